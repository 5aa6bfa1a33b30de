import { duration } from '../../src/kit/duration.ts'
import { growth, isLinear, type ManagerFigures, percentile, type ScaleStep } from './manager-scale-figures.ts'

export interface ScaleEvidence {
  readonly date: Date
  /** What `hyperkube version` says. */
  readonly hyperkube: string
  readonly kubernetes: string
  readonly kwok: string
  readonly machine: string
  /** Sizes that were asked for, and in how many minutes. */
  readonly wanted: readonly number[]
  readonly minutes: number
  /** Those that were reached. */
  readonly steps: readonly ScaleStep[]
  /** Changes at each step. */
  readonly changes: number
  /** How long was looked at rest, in milliseconds. */
  readonly rest: number
}

/** What came of it, as it is kept. */
export function managerScaleEvidence(evidence: ScaleEvidence): string {
  const { date, hyperkube, kubernetes, kwok, machine, changes, rest, steps } = evidence
  return `# Controllers of hyperkube among thousands of nodes

Written by \`npm run e2e:full -- test/full/manager-scale.test.ts\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes},
kwok ${kwok}, one host of the lab, on a machine with ${machine}. API server, etcd, both
managers, kwok and the clients of this test share it: compare rows with each other, not with other machines.

Nodes are kwok's: it says that they are ready, and that their pods run. Their leases are renewed every 30 s. Each has a Host
object with what the agent of a worker says; it gives a sign of life every two minutes, as agents do. Upstream's
kube-controller-manager runs beside hyperkube's, with its usual settings. It reads pods as well, and much more; that is its
task, and none of ours. ${reached(evidence)}

*Time to sync* is from the start of the process, with the lease free, until it says that it is well, leads, has nothing in
its queues and takes less than half a core. *CPU* is of one core, over ${duration(rest)} in which nothing happens but signs of life.
*Latency* is from the request that changes something to a watch that shows what the controller made of it, ${changes} changes one
after the other: for hyperkube's an agent that gives a component up, or says that it is well, and the condition of
the node; for upstream's a Namespace, and its ServiceAccount.

## hyperkube-controller-manager

${figuresTable(steps, ({ own }) => own)}

## kube-controller-manager

${figuresTable(steps, ({ upstream }) => upstream)}

${growthPart(steps)}`
}

function reached({ wanted, minutes, steps }: ScaleEvidence): string {
  const [most, largest] = [Math.max(...wanted), Math.max(...steps.map(({ nodes }) => nodes))]
  if (largest === most) return ''
  return `\n\nAsked for were ${number(most)} nodes; ${number(largest)} is the largest step that ${minutes} minutes held.`
}

/** Also for the terminal. */
export function figuresTable(steps: readonly ScaleStep[], of: (step: ScaleStep) => ManagerFigures): string {
  const head = [
    ...['nodes', 'pods', 'time to sync', 'memory', 'peak of memory', 'CPU at rest'],
    ...['latency, median', 'latency, 99th percentile'],
  ]
  const rows = steps.map((step) => {
    const { sync, resident, peak, cpuShare, latencies } = of(step)
    return [
      ...[number(step.nodes), number(step.pods), `${(sync / 1000).toFixed(1)} s`],
      ...[mebibytes(resident), mebibytes(peak), `${(100 * cpuShare).toFixed(1)} %`],
      ...[0.5, 0.99].map((share) => `${percentile(latencies, share).toFixed(0)} ms`),
    ]
  })
  return table(head, rows)
}

function growthPart(steps: readonly ScaleStep[]): string {
  const [first, last] = [steps[0], steps.at(-1)]
  if (first === undefined || last === undefined || first === last) return ''
  const sizes = last.nodes / first.nodes
  const rows = growth(first, last).map(({ what, own, upstream }) => [
    ...[what, `× ${own.toFixed(1)}`, isLinear(own, sizes) ? 'yes' : 'no', `× ${upstream.toFixed(1)}`],
  ])
  return `## Growth

From ${number(first.nodes)} nodes to ${number(last.nodes)}, × ${sizes.toFixed(1)}. A cost is linear where it has not grown by more than half again as much.

${table(['cost', "hyperkube's", 'linear', "upstream's"], rows)}
`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

function number(value: number): string {
  return value.toLocaleString('en')
}

function mebibytes(bytes: number): string {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`
}
