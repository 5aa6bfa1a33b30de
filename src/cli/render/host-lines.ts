import { formatCount } from '../../kit/text.ts'
import { stripSubject } from './failure-text.ts'
import { computeTransferShare, describeActivity, type HostState } from './host-state.ts'
import { fitLine, gap, measureLine, span, type StyledLine } from './line.ts'
import { formatWait } from './op-text.ts'
import { runningStep, type RunState } from './run-state.ts'
import { formatElapsed } from './step-row.ts'
import { measureWidth } from './text-width.ts'

const indent = gap(4)
const maxNameWidth = 24
/** Durations shorter than this are not shown. */
const minShownMs = 2000

/** Builds at most `maxLines` lines: the condition that the step waits for, and the activity of each host. */
export function buildDetailLines(
  state: RunState,
  now: number,
  columns: number,
  maxLines: number,
): StyledLine[] {
  if (maxLines <= 0) return []
  const wait = state.wait === undefined ? [] : [buildWaitLine(state.wait, now, columns)]
  return [...wait, ...selectHostLines(state, now, columns, maxLines - wait.length)].slice(0, maxLines)
}

/** Counts the detail lines that would be built without a limit. */
export function countDetailLines(state: RunState): number {
  return listHosts(state).length + (state.wait === undefined ? 0 : 1)
}

function buildWaitLine(wait: NonNullable<RunState['wait']>, now: number, columns: number): StyledLine {
  return appendElapsed([indent, span(formatWait(wait.for), 'yellow')], now - wait.since, columns)
}

type NamedHost = readonly [name: string, host: HostState]

function listHosts(state: RunState): NamedHost[] {
  const names = runningStep(state)?.hosts ?? []
  // Hosts that are not part of the planned step come last.
  const all = new Set([...names, ...state.hosts.keys()])
  return [...all].flatMap((name) => {
    const host = state.hosts.get(name)
    return host === undefined ? [] : [[name, host] as const]
  })
}

/**
 * Builds lines for all hosts in order if there is room. Otherwise only the most urgent hosts and the number
 * of remaining hosts are shown.
 */
function selectHostLines(state: RunState, now: number, columns: number, maxLines: number): StyledLine[] {
  const hosts = listHosts(state)
  if (hosts.length <= maxLines) return buildHostLines(state, hosts, now, columns)
  if (maxLines <= 0) return []
  const urgent = sortByUrgency(hosts.filter(([, { status }]) => status !== 'done'))
  const isRestDone = urgent.length < maxLines
  const shown = urgent.slice(0, maxLines - 1)
  const rest = isRestDone ? hosts.length - urgent.length : urgent.length - shown.length
  return [...buildHostLines(state, shown, now, columns), buildMoreLine(rest, isRestDone ? 'done' : '')]
}

/** Sorts failed hosts first, then hosts with the least progress, because the other hosts wait for them. */
function sortByUrgency(hosts: readonly NamedHost[]): NamedHost[] {
  return hosts
    .map(([name, host]) => ({
      name,
      host,
      arrived: computeTransferShare(host),
      since: describeActivity(host).since,
    }))
    .toSorted(
      (a, b) =>
        Number(b.host.status === 'failed') - Number(a.host.status === 'failed') ||
        a.host.endedOps - b.host.endedOps ||
        a.arrived - b.arrived ||
        a.since - b.since ||
        (a.name < b.name ? -1 : 1),
    )
    .map(({ name, host }) => [name, host])
}

function buildMoreLine(amount: number, suffix: string): StyledLine {
  return [indent, span(`… and ${amount} more ${suffix}`.trimEnd(), 'dim')]
}

function buildHostLines(
  state: RunState,
  hosts: readonly NamedHost[],
  now: number,
  columns: number,
): StyledLine[] {
  const nameWidth = Math.min(maxNameWidth, Math.max(0, ...hosts.map(([name]) => measureWidth(name))))
  return hosts.map(([name, host]) => {
    const shown = fitLine([span(name)], nameWidth)
    const linePrefix = [indent, ...shown, gap(nameWidth - measureLine(shown) + 2)]
    switch (host.status) {
      case 'done':
        return fitLine(
          [
            ...linePrefix,
            span(`✓ ${host.changes === 0 ? 'done' : formatCount(host.changes, 'change')}`, 'dim'),
          ],
          columns,
        )
      case 'failed':
        return fitLine([...linePrefix, span(formatHostFailure(state, name), 'red')], columns)
      case 'interrupted':
        return fitLine([...linePrefix, span('interrupted', 'yellow')], columns)
      default:
        return appendElapsed(
          [...linePrefix, span(describeActivity(host).text)],
          now - describeActivity(host).since,
          columns,
        )
    }
  })
}

function formatHostFailure({ failures }: RunState, name: string): string {
  const failure = failures.find(({ host }) => host === name)
  return failure === undefined ? '✗ failed' : `✗ ${failure.code}: ${stripSubject(failure)}`
}

/** Appends the elapsed time, which stays visible if the text is cut. */
function appendElapsed(line: StyledLine, milliseconds: number, columns: number): StyledLine {
  if (milliseconds < minShownMs) return fitLine(line, columns)
  const time = span(` (${formatElapsed(milliseconds)})`, 'dim')
  return fitLine([...fitLine(line, columns - measureWidth(time.text)), time], columns)
}
