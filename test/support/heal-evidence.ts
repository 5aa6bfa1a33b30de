import { formatDuration } from '../../src/kit/time-format.ts'
import { type WithoutAgentsResult, type HealResult, type HealRun, median, sum } from './heal-figures.ts'
import type { Expectation } from './heal-row.ts'

/** Versions and date of a test run. */
export interface HealEnvironment {
  readonly date: Date
  /** Output of `hyperkube version`. */
  readonly hyperkube: string
  readonly kubernetes: string
  readonly shape: string
}

/** The two parts of the evidence file. Each test command rewrites one part and keeps the other. */
export interface HealEvidence {
  readonly faults: string
  readonly withoutAgents: string
}

const withoutAgentsTitle = '## Without agents'

export function splitEvidence(text: string): HealEvidence {
  const at = text.indexOf(withoutAgentsTitle)
  return at < 0
    ? { faults: text, withoutAgents: '' }
    : { faults: text.slice(0, at), withoutAgents: text.slice(at) }
}

export function formatEvidence({ faults, withoutAgents }: HealEvidence): string {
  const parts = [faults, withoutAgents].map((part) => part.trim()).filter((part) => part !== '')
  return `${parts.join('\n\n')}\n`
}

const expectations: Readonly<Record<Expectation, string>> = {
  heals: 'by itself',
  refuses: 'after an operator ran the command of `doctor`',
  'waits-for-recovery': 'by itself, once the cause ended',
}

/** Renders the results of all faults. */
export function formatFaultsPart(environment: HealEnvironment, results: readonly HealResult[]): string {
  return `# Faults, and who heals them

Written by \`npm run e2e:full -- test/full/heal.test.ts\` on ${formatEnvironment(environment)}, which share
one machine with their clients and the load. Compare rows with each other, not with other machines.

The cluster is in use all the time: 50 API requests and five counted writes a second through the proxy of a worker, and 100
requests a second from there to a service of four pods. The worker is the one that the fault is on, unless it is off or cut
off. An API request is sent once more before it counts as failed, one to the service never. Every acknowledged write is
checked afterwards. Times are medians; requests are of all runs together.

*Detected* is when an agent counts a probe as failed, or acts; no agent needs to notice what systemd restarts at once.
*Healed* is when the component works again, as seen from outside, and the agent of the host reports that all is healthy.
For faults with an external cause, the time counts from the end of that cause.

${formatHealTable(results)}

## Actions of agents and findings of doctor

${formatFindingsTable(results)}
`
}

/** Renders the results of the faults without agents. */
export function formatWithoutAgentsPart(
  environment: HealEnvironment,
  timeoutMs: number,
  results: readonly WithoutAgentsResult[],
): string {
  return `${withoutAgentsTitle}

Written by \`HEAL_ALONE=1 npm run e2e:full -- test/full/heal.test.ts\` on ${formatEnvironment(environment)}.
The same faults, once, with all agents stopped: only \`Restart=always\` of systemd and Kubernetes itself remain. The test
waited for ${formatDuration(timeoutMs)}.

${formatWithoutAgentsTable(results)}
`
}

function formatEnvironment({ date, hyperkube, kubernetes, shape }: HealEnvironment): string {
  return `${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes},
${shape} hosts of the lab`
}

export function formatHealTable(results: readonly HealResult[]): string {
  const rows = results.map(({ row, runs }) => [
    row.what,
    String(runs.length),
    formatTime(median(runs.map(({ detected }) => detected))),
    formatTime(median(runs.map(({ healed }) => healed))),
    expectations[row.expects],
    String(sum(runs.map(({ apiFailed }) => apiFailed))),
    String(sum(runs.map(({ serviceFailed }) => serviceFailed))),
    `${sum(runs.map(({ lost }) => lost))} of ${sum(runs.map(({ acknowledged }) => acknowledged))}`,
    runs.every(({ problems }) => problems.length === 0) ? 'yes' : 'no',
  ])
  const head = [
    ...['fault', 'runs', 'detected after', 'healed after', 'how'],
    ...['API requests failed', 'service requests failed', 'acknowledged writes lost', 'passed'],
  ]
  return formatTable(head, rows)
}

export function formatWithoutAgentsTable(results: readonly WithoutAgentsResult[]): string {
  return formatTable(
    ['fault', 'systemd alone', 'who heals it'],
    results.map(({ row, healed }) => [
      row.what,
      formatTime(healed),
      healed === undefined ? 'the agent' : 'systemd',
    ]),
  )
}

function formatFindingsTable(results: readonly HealResult[]): string {
  return formatTable(
    ['fault', 'agents', '`doctor`, first', 'named first'],
    results.map(({ row, runs }) => [
      row.what,
      formatActions(runs),
      runs.map(({ firstFinding }) => firstFinding).find((firstFinding) => firstFinding !== undefined) ?? '',
      // Shows the worst rating of all runs.
      (['not first', 'too soon', 'first', 'not needed'] as const).find((named) =>
        runs.some((run) => run.named === named),
      ) ?? '',
    ]),
  )
}

function formatActions(runs: readonly HealRun[]): string {
  const restartCounts = runs.flatMap(({ leaderRestarts }) => leaderRestarts ?? [])
  return [
    ...new Set(runs.flatMap(({ actions }) => actions)),
    ...(restartCounts.length === 0
      ? []
      : [
          `no restart of ours; controllers and schedulers that ended because their lease was lost: ${sum(restartCounts)}`,
        ]),
  ].join(', ')
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map(
    (cells) => `| ${cells.map(escapeCell).join(' | ')} |`,
  )
  return lines.join('\n')
}

/** Escapes text that would otherwise end a table cell. */
function escapeCell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}

function formatTime(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '–' : formatDuration(milliseconds)
}
