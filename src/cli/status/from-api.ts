import { formatError, HyperkubeError } from '../../kit/errors.ts'
import type { ClusterClient } from '../../lifecycle/cluster-client/cluster-client.ts'
import {
  createOperatorApiClient,
  createKubeconfigClient,
} from '../../lifecycle/cluster-client/connections.ts'
import {
  isReportedHealthy,
  readReportedStatus,
  type ReportedStatus,
} from '../../lifecycle/status/reported-status.ts'
import { silentAfterMs } from '../../manager/heartbeats.ts'
import { managerLease } from '../../manager/rbac.ts'
import { selectApiEndpoint } from '../../spec/api.ts'
import { limitByName } from '../../workspace/limit-hosts.ts'
import { loadCluster } from '../../workspace/load-cluster.ts'
import { openIdentity } from '../../workspace/load-identity.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command/command.ts'
import { formatFindings, printResult } from '../command/print.ts'
import { listControlPlanes } from '../proxy/api-proxy.ts'
import { formatReportedStatus } from './reported-status-text.ts'
import { showRepeatedly } from './watch.ts'

export interface FromApiFlags {
  readonly kubeconfig?: string | undefined
  readonly watch: boolean
}

const controllers = { lease: managerLease, heartbeatTimeoutMs: silentAfterMs }

/** Shows the status that the cluster reports through the API, without ssh. */
export async function showReportedStatus(
  context: CommandContext,
  { options }: Invocation,
  { kubeconfig, watch: isWatching }: FromApiFlags,
): Promise<ExitCode> {
  using api = await openReportingApi(context, options, kubeconfig)
  if (api === undefined) return exitCodes.failure
  const show = async (stdout: CommandContext['stdout']): Promise<ReportedStatus> => {
    const at = context.now()
    const all = await readReportedStatus(api, controllers, at, context.signal)
    const reported = { ...all, hosts: limitByName(all.hosts, ({ host }) => host, options.limit) }
    const head = { apiVersion: 'hyperkube.dev/v1', kind: 'ReportedStatus', at: at.toISOString() }
    printResult(stdout, options.output, { ...head, ...reported }, () =>
      formatReportedStatus(reported, { wide: options.output === 'wide', now: at }, context.paint),
    )
    return reported
  }
  if (isWatching) return await showRepeatedly(context, show)
  return (await show(context.stdout)).hosts.every(isReportedHealthy) ? exitCodes.ok : exitCodes.failure
}

/**
 * Opens the API with a kubeconfig if one is given. Otherwise uses the servers in cluster.yml and credentials
 * from the identity. Returns undefined if cluster.yml is invalid.
 */
export async function openReportingApi(
  context: CommandContext,
  options: Invocation['options'],
  kubeconfig: string | undefined,
): Promise<ClusterClient['api'] | undefined> {
  const { readFile, operator, now, signal } = context
  if (kubeconfig !== undefined) {
    const text = await readFile(kubeconfig).catch((cause: unknown) => {
      throw new HyperkubeError('KUBECONFIG_NOT_READ', `${kubeconfig} cannot be read: ${formatError(cause)}`)
    })
    return createKubeconfigClient(text, kubeconfig, signal)
  }
  const { cluster, findings } = await loadCluster(context, options.file)
  context.stderr.write(formatFindings(findings))
  if (cluster === undefined) return undefined
  const identity = await openIdentity(context, options, cluster.metadata.name)
  const endpoint = selectApiEndpoint(cluster.spec.api)
  const servers = [
    ...(endpoint === undefined ? [] : [endpoint]),
    ...listControlPlanes(cluster).map((one) => one.server),
  ]
  return createOperatorApiClient(
    { identity, operator: `${operator.user}@${operator.machine}`, now: now() },
    { servers: servers.map((server) => `https://${server}`), signal },
  )
}
