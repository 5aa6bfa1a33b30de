import type { ClusterHealth } from '../../fleet/fleet-run.ts'
import { mapWithConcurrency } from '../../kit/concurrency.ts'
import { formatCount, toPrintable } from '../../kit/text.ts'
import type { HealthyCount } from '../../lifecycle/status/status-report.ts'
import {
  type CommandContext,
  type ExitCode,
  exitCodes,
  type Invocation,
  type Paint,
} from '../command/command.ts'
import { printResult } from '../command/print.ts'
import { formatTable, type TableCell, type TableColumn } from '../command/table.ts'
import { showPending } from '../status/pending.ts'
import { selectFlags } from './fleet-flags.ts'
import { type FleetClusterStatus, observeFleetCluster } from './observe-fleet-cluster.ts'
import { ObserverPool } from './observer-pool.ts'
import { loadSelectedFleet, shareKnownHosts } from './select-fleet.ts'

/** Clusters that are observed at the same time. Each has its own ssh connections. */
export const defaultReadParallel = 16
const defaultTimeoutMs = 30_000

/** `hyperkube fleet status`: shows the health of all clusters, the worst first. */
export async function showFleetStatus(
  context: CommandContext,
  options: Invocation['options'],
): Promise<ExitCode> {
  const fleet = await loadSelectedFleet(context, options)
  if (fleet === undefined) return exitCodes.failure
  const { parallel = defaultReadParallel, clusterTimeout = defaultTimeoutMs } = selectFlags.parse(options)
  const shared = shareKnownHosts(context)
  using pool = new ObserverPool({
    startHelper: context.startHelper,
    processors: context.processors,
    clusterCount: fleet.selected.length,
    timeoutMs: clusterTimeout,
    signal: context.signal,
    observeHere: async (cluster) => observeFleetCluster(shared, cluster, clusterTimeout, cluster.cluster),
  })
  const statuses = await readClusters(context, options, parallel, fleet.selected, async (cluster) =>
    pool.observe(cluster),
  )
  const items = sortByHealth(statuses)
  const document = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'FleetStatus',
    fleet: fleet.fleet.metadata.name,
    summary: countByHealth(items),
    items,
  }
  printResult(context.stdout, options.output, document, () =>
    formatFleetStatus(fleet.fleet.metadata.name, items, options.output === 'wide', context.paint),
  )
  return items.every(({ health }) => health === 'healthy') ? exitCodes.ok : exitCodes.failure
}

/** Reads clusters with limited concurrency, and shows which clusters are missing. */
export async function readClusters<T extends { readonly name: string }, R>(
  context: CommandContext,
  options: Invocation['options'],
  parallel: number,
  clusters: readonly T[],
  read: (cluster: T) => Promise<R>,
): Promise<R[]> {
  const missing = new Set(clusters.map(({ name }) => name))
  using pending = showPending(context, options)
  return await mapWithConcurrency(parallel, clusters, async (cluster) => {
    const result = await read(cluster)
    missing.delete(cluster.name)
    pending.update([...missing])
    return result
  })
}

const severities: Readonly<Record<ClusterHealth, number>> = {
  unhealthy: 0,
  unknown: 1,
  degraded: 2,
  healthy: 3,
}

function sortByHealth(statuses: readonly FleetClusterStatus[]): FleetClusterStatus[] {
  return statuses.toSorted(
    (a, b) => severities[a.health] - severities[b.health] || (a.name < b.name ? -1 : 1),
  )
}

function countByHealth(statuses: readonly FleetClusterStatus[]): Record<ClusterHealth, number> {
  const count = (health: ClusterHealth): number => statuses.filter((one) => one.health === health).length
  return {
    unhealthy: count('unhealthy'),
    unknown: count('unknown'),
    degraded: count('degraded'),
    healthy: count('healthy'),
  }
}

const colours = { healthy: 'green', degraded: 'yellow', unhealthy: 'red', unknown: 'red' } as const
const maxProblemLength = 70

const columns: readonly TableColumn<FleetClusterStatus>[] = [
  { head: 'CLUSTER', cell: ({ name }) => ({ text: name }) },
  { head: 'HEALTH', cell: ({ health }) => ({ text: health, colour: colours[health] }) },
  { head: 'KUBERNETES', cell: ({ summary }) => ({ text: summary?.kubernetes ?? '?' }) },
  { head: 'HOSTS', cell: ({ summary }) => countCell(summary?.hosts) },
  { head: 'NODES', cell: ({ summary }) => countCell(summary?.nodes) },
  { head: 'API', cell: ({ summary }) => countCell(summary?.api) },
  { head: 'ETCD', cell: ({ summary }) => countCell(summary?.etcd) },
]

const problemColumn: TableColumn<FleetClusterStatus> = {
  head: 'PROBLEM',
  cell: ({ problems: [first = ''] }) => ({
    text: first.length > maxProblemLength ? `${first.slice(0, maxProblemLength - 1)}…` : first,
  }),
}

const wideColumns: readonly TableColumn<FleetClusterStatus>[] = [
  { head: 'EXPIRY', cell: ({ summary }) => ({ text: summary?.expiry?.until.slice(0, 10) ?? '-' }) },
  {
    head: 'LABELS',
    cell: ({ labels }) => ({
      text: Object.entries(labels)
        .flatMap(([key, value]) => (key === 'name' ? [] : [`${key}=${value}`]))
        .join(','),
    }),
  },
  { head: 'FILE', cell: ({ file }) => ({ text: file }) },
  { head: 'PROBLEM', cell: ({ problems: [first = ''] }) => ({ text: first }) },
]

function countCell(count: HealthyCount | undefined): TableCell {
  if (count === undefined) return { text: '?', colour: 'dim' }
  const { healthy, total } = count
  return { text: `${healthy}/${total}`, colour: healthy === total ? 'green' : 'red' }
}

const maxHints = 5

/** Formats a line about the fleet, a row for each cluster, and the commands that explain the worst ones. */
export function formatFleetStatus(
  name: string,
  items: readonly FleetClusterStatus[],
  isWide: boolean,
  paint: Paint,
): string {
  const counts = Object.entries(countByHealth(items)).flatMap(([health, count]) =>
    count === 0 ? [] : [`${count} ${health}`],
  )
  const table = formatTable(isWide ? [...columns, ...wideColumns] : [...columns, problemColumn], items, paint)
  const hints = items
    .filter(({ health }) => health !== 'healthy')
    .slice(0, maxHints)
    .map(({ file }) => `  → hyperkube doctor -f ${toPrintable(file)}\n`)
  return `${paint('bold', name)}: ${formatCount(items.length, 'cluster')}: ${counts.join(', ')}\n${table}${hints.join('')}`
}
