import { duration } from '../../src/kit/duration.ts'
import { type AloneResult, type HealResult, type HealRun, median, sum } from './heal-figures.ts'
import type { Expectation } from './heal-row.ts'

/** What was tried, and with what. */
export interface HealTrial {
  readonly date: Date
  /** What `hyperkube version` says. */
  readonly hyperkube: string
  readonly kubernetes: string
  readonly shape: string
}

/** The two parts of what is kept: each command writes one of them, and leaves the other. */
export interface HealEvidence {
  readonly faults: string
  readonly alone: string
}

const aloneTitle = '## Without agents'

export function readEvidence(text: string): HealEvidence {
  const at = text.indexOf(aloneTitle)
  return at < 0 ? { faults: text, alone: '' } : { faults: text.slice(0, at), alone: text.slice(at) }
}

export function evidenceText({ faults, alone }: HealEvidence): string {
  const parts = [faults, alone].map((part) => part.trim()).filter((part) => part !== '')
  return `${parts.join('\n\n')}\n`
}

const expectations: Readonly<Record<Expectation, string>> = {
  heals: 'by itself',
  refuses: 'after an operator typed what `doctor` said',
  'waits-for-world': 'by itself, once the cause was over',
}

/** What came of all faults. */
export function faultsPart(trial: HealTrial, results: readonly HealResult[]): string {
  return `# Faults, and who heals them

Written by \`npm run e2e:full -- test/full/heal.test.ts\` on ${withWhat(trial)}, which share
one machine with their clients and the load. Compare rows with each other, not with other machines.

The cluster is in use all the while: 50 API requests and five counted writes a second through the proxy of a worker, and 100
requests a second from there to a service of four pods. The worker is the one that the fault is on, unless it is off or cut
off. An API request is sent once more before it counts as failed, one to the service never. Every acknowledged write is
looked for afterwards. Times are medians; requests are of all runs together.

*Detected* is when an agent counts a probe as failed, or acts; what systemd starts anew at once, no agent needs to notice.
*Healed* is when the component does its work again, as it is seen from outside, and the agent of the host says that all is
well. For what the world does, it is from the end of that on.

${healTable(results)}

## What agents did, and what operators were told

${toldTable(results)}
`
}

/** What came of them while no agent ran. */
export function alonePart(trial: HealTrial, waited: number, results: readonly AloneResult[]): string {
  return `${aloneTitle}

Written by \`HEAL_ALONE=1 npm run e2e:full -- test/full/heal.test.ts\` on ${withWhat(trial)}.
The same faults, once, with all agents stopped: \`Restart=always\` of systemd and Kubernetes itself are all there is. It was
waited for ${duration(waited)}.

${aloneTable(results)}
`
}

function withWhat({ date, hyperkube, kubernetes, shape }: HealTrial): string {
  return `${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes},
${shape} hosts of the lab`
}

/** Also for the terminal. */
export function healTable(results: readonly HealResult[]): string {
  const rows = results.map(({ row, runs }) => [
    row.what,
    String(runs.length),
    time(median(runs.map(({ detected }) => detected))),
    time(median(runs.map(({ healed }) => healed))),
    expectations[row.expects],
    String(sum(runs.map(({ apiFailed }) => apiFailed))),
    String(sum(runs.map(({ serviceFailed }) => serviceFailed))),
    `${sum(runs.map(({ lost }) => lost))} of ${sum(runs.map(({ acknowledged }) => acknowledged))}`,
    runs.every(({ wrong }) => wrong.length === 0) ? 'yes' : 'no',
  ])
  const head = [
    ...['fault', 'runs', 'detected after', 'healed after', 'how'],
    ...['API requests failed', 'service requests failed', 'acknowledged writes lost', 'well'],
  ]
  return table(head, rows)
}

/** Also for the terminal. */
export function aloneTable(results: readonly AloneResult[]): string {
  return table(
    ['fault', 'systemd alone', 'who heals it'],
    results.map(({ row, healed }) => [
      row.what,
      time(healed),
      healed === undefined ? 'the agent' : 'systemd',
    ]),
  )
}

function toldTable(results: readonly HealResult[]): string {
  return table(
    ['fault', 'agents', '`doctor`, first', 'named first'],
    results.map(({ row, runs }) => [
      row.what,
      actionsOf(runs),
      runs.map(({ told }) => told).find((told) => told !== undefined) ?? '',
      // The worst of them.
      (['not first', 'too soon', 'first', 'not needed'] as const).find((named) =>
        runs.some((run) => run.named === named),
      ) ?? '',
    ]),
  )
}

function actionsOf(runs: readonly HealRun[]): string {
  const left = runs.flatMap(({ leftByThemselves }) => leftByThemselves ?? [])
  return [
    ...new Set(runs.flatMap(({ actions }) => actions)),
    ...(left.length === 0
      ? []
      : [
          `no restart of ours; controllers and schedulers that ended because their lease was lost: ${sum(left)}`,
        ]),
  ].join(', ')
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.map(cell).join(' | ')} |`)
  return lines.join('\n')
}

/** What others have said must not end a cell. */
function cell(text: string): string {
  return text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|')
}

function time(milliseconds: number | undefined): string {
  return milliseconds === undefined ? '–' : duration(milliseconds)
}
