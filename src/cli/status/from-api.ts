import { describe, HyperkubeError } from '../../kit/errors.ts'
import { isReportedWell, type Reported } from '../../lifecycle/status/reported-status.ts'
import { reporterBy, type Reporter, reporterFor } from '../../lifecycle/status/status-reader.ts'
import { silentAfter } from '../../manager/heartbeats.ts'
import { managerLease } from '../../manager/rbac.ts'
import { type Context, type ExitCode, exitCodes, type Invocation } from '../command.ts'
import { controlPlanes } from '../control-planes.ts'
import { limitTo } from '../limit-hosts.ts'
import { loadCluster } from '../load-cluster.ts'
import { openIdentity } from '../load-identity.ts'
import { findingsText, print } from '../print.ts'
import { reportedText } from './reported-status-text.ts'
import { watch } from './watch.ts'

export interface FromApiFlags {
  readonly kubeconfig?: string | undefined
  readonly watch: boolean
}

/** How a cluster is by its own word, where no host can be looked at. */
export async function statusFromApi(
  context: Context,
  { options }: Invocation,
  { kubeconfig, watch: again }: FromApiFlags,
): Promise<ExitCode> {
  using reporter = await openReporter(context, options, kubeconfig)
  if (reporter === undefined) return exitCodes.failure
  const show = async (stdout: Context['stdout']): Promise<Reported> => {
    const at = context.now()
    const all = await reporter.read(at)
    const reported = { ...all, hosts: limitTo(all.hosts, ({ host }) => host, options.limit) }
    const head = { apiVersion: 'hyperkube.dev/v1', kind: 'ReportedStatus', at: at.toISOString() }
    print(stdout, options.output, { ...head, ...reported }, () =>
      reportedText(reported, { wide: options.output === 'wide', now: at }, context.paint),
    )
    return reported
  }
  if (again) return await watch(context, show)
  return (await show(context.stdout)).hosts.every(isReportedWell) ? exitCodes.ok : exitCodes.failure
}

/** By a kubeconfig alone, or by cluster.yml and its key. Undefined when cluster.yml is not to be used. */
export async function openReporter(
  context: Context,
  options: Invocation['options'],
  kubeconfig: string | undefined,
): Promise<Reporter | undefined> {
  const { readFile, operator, now, signal } = context
  const world = { lease: managerLease, silentAfter, signal }
  if (kubeconfig !== undefined) {
    const text = await readFile(kubeconfig).catch((cause: unknown) => {
      throw new HyperkubeError('KUBECONFIG_NOT_READ', `${kubeconfig} cannot be read: ${describe(cause)}`)
    })
    return reporterBy(text, kubeconfig, world)
  }
  const { cluster, findings } = await loadCluster(context, options.file)
  context.stderr.write(findingsText(findings))
  if (cluster === undefined) return undefined
  const identity = await openIdentity(context, options, cluster.metadata.name)
  const { endpoint } = cluster.spec.api
  const servers = [
    ...(endpoint === undefined ? [] : [endpoint]),
    ...controlPlanes(cluster).map((one) => one.server),
  ]
  return reporterFor(
    {
      identity,
      operator: `${operator.user}@${operator.machine}`,
      servers: servers.map((server) => `https://${server}`),
      now: now(),
    },
    world,
  )
}
