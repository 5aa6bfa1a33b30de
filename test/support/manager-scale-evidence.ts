import { renderTable } from '../../scripts/markdown-table.ts'
import { formatDuration } from '../../src/kit/time-format.ts'
import {
  computeGrowth,
  isLinear,
  type ManagerFigures,
  percentile,
  type ScaleStep,
} from './manager-scale-figures.ts'
import { formatMebibytes, formatNumber } from './evidence-units.ts'

export interface ScaleEvidence {
  readonly date: Date
  /** Output of `hyperkube version`. */
  readonly hyperkube: string
  readonly kubernetes: string
  readonly kwok: string
  readonly machine: string
  /** Requested node counts, and the time limit in minutes. */
  readonly requestedSizes: readonly number[]
  readonly minutes: number
  /** Measurements at the node counts that were reached. */
  readonly steps: readonly ScaleStep[]
  /** Number of measured changes at each node count. */
  readonly changes: number
  /** Duration of the idle measurement in milliseconds. */
  readonly restMs: number
}

/** Renders the results for docs/evidence. */
export function formatScaleEvidence(evidence: ScaleEvidence): string {
  const { date, hyperkube, kubernetes, kwok, machine, changes, restMs, steps } = evidence
  return `# Controllers of hyperkube with thousands of nodes

Written by \`npm run e2e:full -- test/full/manager-scale.test.ts\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes},
kwok ${kwok}, one host of the lab, on a machine with ${machine}. API server, etcd, both
managers, kwok and the clients of this test share it: compare rows with each other, not with other machines.

Nodes are kwok's: it reports nodes as ready and pods as running. Their leases are renewed every 30 s. Each has a Host
object with the status of a worker's agent; it sends a heartbeat every two minutes, as agents do. Upstream's
kube-controller-manager runs beside hyperkube's, with its usual settings. It also reads pods and much more, which hyperkube's
does not.${formatReached(evidence)}

*Time to sync* is from the start of the process, with the lease free, until it is healthy, leads, has empty
queues and uses less than half a core. *CPU* is of one core, over ${formatDuration(restMs)} with only heartbeats.
*Latency* is from the request that changes something to a watch event with the controller's reaction, ${changes} changes one
after the other: for hyperkube's an agent that reports a component as exhausted or healthy, and the condition of
the node; for upstream's a Namespace, and its ServiceAccount.

## hyperkube-controller-manager

${formatFiguresTable(steps, ({ own }) => own)}

## kube-controller-manager

${formatFiguresTable(steps, ({ upstream }) => upstream)}

${formatGrowth(steps)}`
}

function formatReached({ requestedSizes, minutes, steps }: ScaleEvidence): string {
  const [maxNodes, largest] = [Math.max(...requestedSizes), Math.max(...steps.map(({ nodes }) => nodes))]
  if (largest === maxNodes) return ''
  return `\n\nRequested were ${formatNumber(maxNodes)} nodes; ${formatNumber(largest)} is the largest step that fitted into ${minutes} minutes.`
}

export function formatFiguresTable(
  steps: readonly ScaleStep[],
  select: (step: ScaleStep) => ManagerFigures,
): string {
  const head = [
    ...['nodes', 'pods', 'time to sync', 'memory', 'peak of memory', 'CPU at rest'],
    ...['latency, median', 'latency, 99th percentile'],
  ]
  const rows = steps.map((step) => {
    const { sync, resident, peak, cpuShare, latencies } = select(step)
    return [
      ...[formatNumber(step.nodes), formatNumber(step.pods), `${(sync / 1000).toFixed(1)} s`],
      ...[formatMebibytes(resident), formatMebibytes(peak), `${(100 * cpuShare).toFixed(1)} %`],
      ...[0.5, 0.99].map((share) => `${percentile(latencies, share).toFixed(0)} ms`),
    ]
  })
  return renderTable(head, rows)
}

function formatGrowth(steps: readonly ScaleStep[]): string {
  const [first, last] = [steps[0], steps.at(-1)]
  if (first === undefined || last === undefined || first === last) return ''
  const sizes = last.nodes / first.nodes
  const rows = computeGrowth(first, last).map(({ what, own, upstream }) => [
    ...[what, `× ${own.toFixed(1)}`, isLinear(own, sizes) ? 'yes' : 'no', `× ${upstream.toFixed(1)}`],
  ])
  return `## Growth

From ${formatNumber(first.nodes)} nodes to ${formatNumber(last.nodes)}, × ${sizes.toFixed(1)}. A cost is linear if it grew at most half again as much.

${renderTable(['cost', "hyperkube's", 'linear', "upstream's"], rows)}
`
}
