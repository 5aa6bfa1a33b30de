import type { ClusterHealth } from '../../fleet/fleet-run.ts'
import { formatError } from '../../kit/errors.ts'
import { summarizeHealth } from '../../lifecycle/status/cluster-health.ts'
import type { ClusterStatusReport, StatusReport } from '../../lifecycle/status/status-report.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { type FleetCluster, isValidCluster } from '../../workspace/fleet-clusters.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import type { CommandContext } from '../command/command.ts'
import { observeStatus } from '../status/observe-status.ts'
import { listHostProblems } from '../status/text.ts'
import { buildClusterOptions, createClusterContext } from './cluster-context.ts'
import { withClusterDeadline } from './cluster-deadline.ts'

/** Health of one cluster of a fleet. */
export interface FleetClusterStatus extends Pick<FleetCluster, 'name' | 'file' | 'labels'> {
  readonly health: ClusterHealth
  /** Undefined if the cluster could not be observed. */
  readonly summary:
    | Pick<ClusterStatusReport, 'kubernetes' | 'hosts' | 'nodes' | 'etcd' | 'api' | 'expiry'>
    | undefined
  /** What is wrong, the most important first. */
  readonly problems: readonly string[]
}

/**
 * Observes one cluster and closes its connections. A cluster that cannot be observed is `unknown`, with the
 * reason as its problem. Without `loaded`, cluster.yml is read again, because a rollout may have changed it.
 */
export async function observeFleetCluster(
  context: CommandContext,
  cluster: FleetCluster,
  timeoutMs: number,
  loaded?: Cluster,
): Promise<FleetClusterStatus> {
  const { name, file, labels } = cluster
  const fail = (problems: readonly string[]): FleetClusterStatus => ({
    ...{ name, file, labels },
    health: 'unknown',
    summary: undefined,
    problems,
  })
  if (!isValidCluster(cluster))
    return fail(
      cluster.findings.flatMap(({ severity, code, path, message }) =>
        severity === 'error' ? [`${code}: ${path ?? ''} ${message}`] : [],
      ),
    )
  try {
    const report = await withClusterDeadline(context.signal, timeoutMs, async (signal) =>
      observe(context, cluster, loaded, timeoutMs, signal),
    )
    const { kubernetes, hosts, nodes, etcd, api, expiry } = report.summary
    return {
      ...{ name, file, labels },
      health: summarizeHealth(report),
      summary: { kubernetes, hosts, nodes, etcd, api, ...(expiry === undefined ? {} : { expiry }) },
      problems: listProblemTexts(report),
    }
  } catch (error) {
    context.signal.throwIfAborted()
    return fail([formatError(error)])
  }
}

async function observe(
  context: CommandContext,
  cluster: FleetCluster,
  loaded: Cluster | undefined,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<StatusReport> {
  const own = createClusterContext(context, cluster, 'status', { signal, onEvent: () => undefined }).context
  const options = buildClusterOptions(cluster, { timeout: timeoutMs })
  const current = loaded ?? (await loadCluster(own, cluster.file)).cluster
  if (current === undefined) throw new Error(`${cluster.file} was changed and has errors now`)
  return observeStatus(own, options, current, await openIdentity(own, options, current.metadata.name))
}

function listProblemTexts({ hosts, summary }: StatusReport): string[] {
  const isReached = summary.controlPlanesUnreachable !== true
  return [
    ...(isReached && summary.api.healthy === 0 ? ['no API server is ready'] : []),
    ...(isReached && !summary.etcd.quorum ? ['etcd has no quorum, or did not answer in time'] : []),
    ...hosts.flatMap(listHostProblems),
    ...(summary.addons ?? []).flatMap(({ name, reason }) =>
      reason === undefined ? [] : [`addon ${name} is not ready: ${reason}`],
    ),
  ]
}
