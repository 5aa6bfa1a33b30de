import { Argument } from 'commander'
import { type Event, eventFormat, eventTypes } from '../../contract/event.ts'
import { readVersioned } from '../../contract/versioned.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/text.ts'
import { formatDuration } from '../../kit/time-format.ts'
import { buildClusterCommand } from '../command/cluster-command.ts'
import { type CommandContext, type CommandGroup, exitCodes } from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { formatTable, type TableColumn } from '../command/table.ts'
import { buildTimeline, listBars, type Timeline } from '../html/timeline.ts'
import { renderTimelinePage } from '../html/timeline-page.ts'

/** A run as `runs list` shows it. */
interface RunRow {
  readonly name: string
  readonly command: string
  readonly started: string
  readonly seconds: number
  /** Undefined if the log has no end, because the process was killed or is still running. */
  readonly outcome: string | undefined
}

const listRuns = buildClusterCommand(
  async ({ context, options, cluster }) => {
    const { name: clusterName } = cluster.metadata
    const items = context.commandLogs
      .list(clusterName)
      .toReversed()
      .map((name) => toRunRow(name, selectOuterLines(readLines(context, clusterName, name))))
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'RunList', items }
    printResult(context.stdout, options.output, document, () =>
      items.length === 0
        ? `no run of ${clusterName} is recorded on this machine\n`
        : formatTable(columns, items, context.paint),
    )
    return exitCodes.ok
  },
  {
    examples: [['hyperkube runs list', 'list recorded runs of this machine, newest first']],
    sharedFlags: ['file', 'output'],
    configure: () => undefined,
  },
)

const showRun = buildClusterCommand(
  async ({ context, args: [wanted], options, cluster }) => {
    const { name: clusterName } = cluster.metadata
    const names = context.commandLogs.list(clusterName)
    const name = wanted === undefined ? names.at(-1) : names.find((one) => one === wanted)
    if (name === undefined) throw buildUnknownRunError(wanted, clusterName)
    const events = readEvents(readLines(context, clusterName, name))
    const document = { apiVersion: 'hyperkube.dev/v1', kind: 'EventList', run: name, items: events }
    const timeline = buildTimeline(events)
    printResult(context.stdout, options.output, document, () =>
      options.output === 'html' ? renderTimelinePage(clusterName, timeline) : formatTimeline(timeline),
    )
    return exitCodes.ok
  },
  {
    examples: [
      ['hyperkube runs show', 'show steps of the newest run with their times'],
      ['hyperkube runs show -o html > run.html', 'write a timeline per host and step as one HTML file'],
      ['hyperkube runs show 2026-11-17T06-29-17.472Z-up -o json', 'print all events of one run'],
    ],
    sharedFlags: ['file', 'html-output'],
    configure: (command) =>
      command.addArgument(new Argument('[run]', 'name in runs list (default: the newest run)')),
  },
)

export const runsCommand: CommandGroup = {
  subcommands: [
    { name: 'list', summary: 'List recorded runs of this machine', definition: listRuns },
    { name: 'show', summary: 'Show the steps of a run, also as an HTML timeline', definition: showRun },
  ],
}

function buildUnknownRunError(wanted: string | undefined, cluster: string): HyperkubeError {
  const message =
    wanted === undefined
      ? `no run of ${cluster} is recorded on this machine`
      : `there is no recorded run ${wanted}`
  return new HyperkubeError('RUN_UNKNOWN', message, { hint: 'hyperkube runs list' })
}

/** Reads the events of a run. Events of newer releases and an incomplete last line are skipped. */
function readEvents(lines: readonly string[]): readonly Event[] {
  return lines.flatMap((line) => {
    const value = parseLine(line)
    return value === undefined ? [] : [readVersioned(eventFormat, value)]
  })
}

function parseLine(line: string): unknown {
  if (line === '') return undefined
  try {
    const value: { body?: { type?: string } } = JSON.parse(line)
    return eventTypes.has(value.body?.type ?? '') ? value : undefined
  } catch {
    return undefined
  }
}

function readLines({ commandLogs }: CommandContext, cluster: string, name: string): readonly string[] {
  return commandLogs.read(cluster, name).split('\n')
}

/**
 * Selects the lines that contain the command, start and end of a run. Its log may have thousands of other
 * lines.
 */
function selectOuterLines(lines: readonly string[]): readonly string[] {
  // The last two lines are needed, because the last line is empty, or incomplete if the process was killed.
  return [...lines.slice(0, 1), ...lines.slice(1).slice(-2)]
}

function toRunRow(name: string, lines: readonly string[]): RunRow {
  const { command, start, end, result } = buildTimeline(readEvents(lines))
  const isEmpty = !Number.isFinite(start)
  return {
    name,
    command,
    started: isEmpty ? '' : new Date(start).toISOString(),
    seconds: isEmpty ? 0 : (end - start) / 1000,
    outcome: result?.outcome,
  }
}

const columns: readonly TableColumn<RunRow>[] = [
  { head: 'RUN', cell: ({ name }) => ({ text: name }) },
  { head: 'COMMAND', cell: ({ command }) => ({ text: command }) },
  { head: 'TOOK', cell: ({ seconds }) => ({ text: formatDuration(seconds * 1000) }) },
  {
    head: 'RESULT',
    cell: ({ outcome }) => ({
      text: outcome ?? 'no end recorded',
      colour: outcome === 'failed' ? 'red' : outcome === undefined ? 'yellow' : 'green',
    }),
  },
]

function formatTimeline(timeline: Timeline): string {
  const lines = listBars(timeline).map(
    (bar) =>
      `${formatDuration(bar.start - timeline.start).padStart(9)} ${formatDuration(bar.end - bar.start).padStart(9)}  ${bar.host}: ${bar.title} (${bar.outcome})\n`,
  )
  const problems = timeline.failures.map(({ host, text }) => `${host}: ${text}\n`)
  return toPrintable(`${'AT'.padStart(9)} ${'TOOK'.padStart(9)}  STEP\n${lines.join('')}${problems.join('')}`)
}
