import { renderTable } from '../../scripts/markdown-table.ts'
import { formatDuration } from '../../src/kit/time-format.ts'
import type { ServiceCost } from './service-cost.ts'

export interface CostAtRest {
  readonly date: Date
  /** Output of `hyperkube version`. */
  readonly hyperkube: string
  readonly kubernetes: string
  readonly machine: string
  readonly durationMs: number
  readonly controlPlane: readonly ServiceCost[]
  readonly worker: readonly ServiceCost[]
}

/** Services of hyperkube. All others come from upstream. */
const ownServices: ReadonlySet<string> = new Set([
  'hyperkube-agent',
  'apiserver-proxy',
  'hyperkube-controller-manager',
])

/** Adds up the services of hyperkube on one host. */
export function sumOwnServices(costs: readonly ServiceCost[]): ServiceCost {
  const own = costs.filter(({ service }) => ownServices.has(service))
  const sum = (read: (cost: ServiceCost) => number): number =>
    own.reduce((total, cost) => total + read(cost), 0)
  return {
    service: own.map(({ service }) => service).join(' + '),
    pss: sum(({ pss }) => pss),
    maxPss: sum(({ maxPss }) => maxPss),
    cpuShare: sum(({ cpuShare }) => cpuShare),
  }
}

/** Renders the results for docs/evidence. */
export function formatCostAtRest(cost: CostAtRest): string {
  const { date, hyperkube, kubernetes, machine, durationMs, controlPlane, worker } = cost
  return `# Cost at rest

Written by \`npm run e2e:full -- test/full/cost-at-rest.test.ts\` on ${date.toISOString().slice(0, 10)}: ${hyperkube}, Kubernetes ${kubernetes},
one control plane and one worker of the lab without addons and without pods, on a machine with ${machine}.

The hosts were idle for ${formatDuration(durationMs)}. *Memory* is the proportional set size (PSS) of the main process: median of one
sample per minute, and the maximum. Pages that processes of one host share count by their share. *CPU* is of one
core, of the process and its ended children.

The goal for agent and proxy of a worker is 90 MB and less than 0.5 %. Two things limit it. Each process has its own
heap besides the pages of the executable that both share. Notifications of systemd's watchdog start a child process.

## Worker

${formatCosts([sumOwnServices(worker), ...worker])}

## Control plane

${formatCosts([sumOwnServices(controlPlane), ...controlPlane])}
`
}

function formatCosts(costs: readonly ServiceCost[]): string {
  const rows = costs.map(({ service, pss, maxPss, cpuShare }) => [
    ...[service, formatMegabytes(pss), formatMegabytes(maxPss), `${(100 * cpuShare).toFixed(2)} %`],
  ])
  return renderTable(['service', 'memory', 'maximum', 'CPU'], rows)
}

function formatMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
