import { formatError, HyperkubeError } from '../../kit/errors.ts'
import { isReportedHealthy, type ReportedStatus } from '../../lifecycle/status/reported-status.ts'
import {
  createKubeconfigStatusReader,
  type StatusReader,
  createIdentityStatusReader,
} from '../../lifecycle/status/status-reader.ts'
import { silentAfterMs } from '../../manager/heartbeats.ts'
import { managerLease } from '../../manager/rbac.ts'
import { type CommandContext, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { listControlPlanes } from '../control-planes.ts'
import { limitByName } from '../limit-hosts.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { formatFindings, printResult } from '../print.ts'
import { formatReportedStatus } from './reported-status-text.ts'
import { showRepeatedly } from './watch.ts'

export interface FromApiFlags {
  readonly kubeconfig?: string | undefined
  readonly watch: boolean
}

/** Shows the status that the cluster reports through the API, without ssh. */
export async function showReportedStatus(
  context: CommandContext,
  { options }: Invocation,
  { kubeconfig, watch: isWatching }: FromApiFlags,
): Promise<ExitCode> {
  using reader = await openStatusReader(context, options, kubeconfig)
  if (reader === undefined) return exitCodes.failure
  const show = async (stdout: CommandContext['stdout']): Promise<ReportedStatus> => {
    const at = context.now()
    const all = await reader.read(at)
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
 * Opens a status reader with a kubeconfig, or with cluster.yml and the identity's key. Undefined if
 * cluster.yml is invalid.
 */
export async function openStatusReader(
  context: CommandContext,
  options: Invocation['options'],
  kubeconfig: string | undefined,
): Promise<StatusReader | undefined> {
  const { readFile, operator, now, signal } = context
  const readerOptions = { lease: managerLease, heartbeatTimeoutMs: silentAfterMs, signal }
  if (kubeconfig !== undefined) {
    const text = await readFile(kubeconfig).catch((cause: unknown) => {
      throw new HyperkubeError('KUBECONFIG_NOT_READ', `${kubeconfig} cannot be read: ${formatError(cause)}`)
    })
    return createKubeconfigStatusReader(text, kubeconfig, readerOptions)
  }
  const { cluster, findings } = await loadCluster(context, options.file)
  context.stderr.write(formatFindings(findings))
  if (cluster === undefined) return undefined
  const identity = await openIdentity(context, options, cluster.metadata.name)
  const { endpoint } = cluster.spec.api
  const servers = [
    ...(endpoint === undefined ? [] : [endpoint]),
    ...listControlPlanes(cluster).map((one) => one.server),
  ]
  return createIdentityStatusReader(
    {
      identity,
      operator: `${operator.user}@${operator.machine}`,
      servers: servers.map((server) => `https://${server}`),
      now: now(),
    },
    readerOptions,
  )
}
