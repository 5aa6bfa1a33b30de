import type { Identity } from '../../identity/identity.ts'
import { observeClusterHealth, type ObserveOptions } from '../../lifecycle/observe/observe-cluster.ts'
import { buildStatusReport, type StatusReport } from '../../lifecycle/status/status-report.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { limitHosts } from '../../workspace/limit-hosts.ts'
import { connectToCluster } from '../../workspace/open-cluster.ts'
import type { CommandContext, Invocation } from '../command/command.ts'
import { showPending } from './pending.ts'

/** Milliseconds of --timeout that are reserved for printing the results. */
const printReserveMs = 500

/** Ends the observation shortly before --timeout, so that its results can still be printed. */
function limitObservation(timeout: number | undefined): Pick<ObserveOptions, 'timeoutMs'> {
  return timeout === undefined ? {} : { timeoutMs: Math.max(timeout / 2, timeout - printReserveMs) }
}

/** Observes the status with new connections, because hosts may have become reachable or unreachable. */
export async function observeStatus(
  context: CommandContext,
  options: Invocation['options'],
  cluster: Cluster,
  identity: Identity,
): Promise<StatusReport> {
  const { now, signal } = context
  const only = new Set(limitHosts(cluster, options.limit).map(({ name }) => name))
  using pending = showPending(context, options)
  await using opened = await connectToCluster(context, options.file, cluster, identity)
  const { endpoints, deps } = opened
  const observed = await observeClusterHealth(endpoints, deps, {
    only,
    now,
    signal,
    fresh: false,
    deep: false,
    certificates: true,
    ...limitObservation(options.timeout),
    onPending: pending.update,
  })
  return buildStatusReport(observed, cluster.spec, identity)
}
