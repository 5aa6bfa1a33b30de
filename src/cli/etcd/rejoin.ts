import { HyperkubeError } from '../../kit/errors.ts'
import { type HostEndpoint, listClusterEndpoints } from '../../lifecycle/host-endpoints.ts'
import { prepareEtcdRejoin } from '../../lifecycle/rejoin.ts'
import { type ClusterClient, createClusterClient } from '../../lifecycle/cluster-client.ts'
import { exitCodes } from '../command.ts'
import { loadClusterInputs } from '../load-inputs.ts'
import { type RunReporter, runWithProgress, type CommandOutcome } from '../run-with-progress.ts'
import { confirmChanges } from '../up/confirm.ts'
import { createDeferredAbort } from '../up/deferred-abort.ts'
import { createRemoteLookup, buildClientOptions } from '../up/propose.ts'
import { type ClusterConnection, connectCluster } from '../up/connect.ts'
import { runUp } from '../up/run-up.ts'
import { withOperatorLock } from '../up/operator-lock.ts'
import { joinNames } from '../format-text.ts'
import type { EtcdCommandAction, EtcdInvocation } from './action.ts'

/**
 * Brings back a host whose etcd member has lost or damaged data. The host joins as a new member and gets all
 * data from the other members.
 */
export const rejoinEtcd: EtcdCommandAction = async (invocation) => {
  const { context, options, flags, cluster, name } = invocation
  const endpoint = listClusterEndpoints(cluster).find(({ host, etcd }) => etcd && host === name)
  if (endpoint === undefined) {
    const members = listClusterEndpoints(cluster).filter(({ etcd }) => etcd)
    context.stderr.write('USAGE: which member? hyperkube etcd rejoin HOST\n')
    context.stderr.write(`  → one of ${joinNames(members.map(({ host }) => host))}\n`)
    return exitCodes.usage
  }
  const command = `etcd rejoin ${endpoint.host}`
  const inputs = await loadClusterInputs(context, options, cluster)
  const settings = {
    command,
    cluster: cluster.metadata.name,
    progress: flags.progress,
    debug: options.debug === true,
  }
  const result = await runWithProgress(context, settings, async (run) => {
    using deferredAbort = createDeferredAbort(context.signal)
    await using connection = await connectCluster(context, options, inputs, run, deferredAbort.signal)
    const clientOptions = buildClientOptions(
      connection.inputs,
      context,
      createRemoteLookup(connection.connected),
    )
    using client = await createClusterClient(listClusterEndpoints(cluster), {
      ...clientOptions,
      signal: deferredAbort.signal,
    })
    await requireUnhealthyMember(cluster, endpoint, client)
    return await confirmAndPrepare(invocation, endpoint, {
      ...connection,
      client,
      run,
      deferAbort: deferredAbort.defer,
    })
  })
  if (result.code !== exitCodes.ok) return result.code
  return runUp(context, { ...options, yes: true }, { command, cluster, findings: [] })
}

/**
 * Throws if the member is healthy, or if the other members have no quorum from which it could copy the data.
 */
async function requireUnhealthyMember(
  cluster: EtcdInvocation['cluster'],
  { host }: HostEndpoint,
  client: Pick<ClusterClient, 'members' | 'etcdHealthy'>,
): Promise<void> {
  if ((await client.etcdHealthy([host])) === undefined) {
    throw new HyperkubeError(
      'ETCD_REJOIN_HEALTHY',
      'its etcd member is healthy and does not need to rejoin',
      {
        host,
        hint: 'hyperkube etcd status',
      },
    )
  }
  const others = listClusterEndpoints(cluster).filter((one) => one.etcd && one.host !== host)
  if ((await client.members()).length > 0 && others.length > 0) return
  throw new HyperkubeError(
    'ETCD_REJOIN_NO_QUORUM',
    'the other members of etcd have no quorum to copy the data from',
    {
      host,
      hint: 'from what is left of it, or from a snapshot: hyperkube etcd recover',
    },
  )
}

interface RejoinDeps extends ClusterConnection {
  readonly client: Pick<ClusterClient, 'removeEtcdMember'>
  readonly run: RunReporter
  /** After this call, an interrupt no longer stops the wait for hosts. */
  readonly deferAbort: () => void
}

async function confirmAndPrepare(
  { context, options, flags }: EtcdInvocation,
  { host }: HostEndpoint,
  { client, run, deferAbort, ...connection }: RejoinDeps,
): Promise<CommandOutcome> {
  const session = connection.connected.sessions.get(host)
  if (session === undefined) {
    throw new HyperkubeError('ETCD_REJOIN_UNREACHABLE', 'the host does not answer, and nothing was done', {
      host,
      hint: `bring it back first; one that is lost for good: hyperkube node remove ${host}`,
    })
  }
  run.print(
    [
      `${host} rejoins etcd:`,
      '  the other members remove it and continue without it',
      '  what is left of its data is moved aside, and kept on the host',
      '  it copies all data from the others and votes when it has caught up (as with hyperkube up)',
      '',
    ].join('\n'),
  )
  if (flags.dryRun) return { code: exitCodes.changesPending, result: { outcome: 'unchanged' } }
  const confirmed = await confirmChanges(context, options, flags.progress !== 'json')
  if (confirmed !== true) return { code: confirmed, result: { outcome: 'unchanged' } }
  deferAbort()
  await withOperatorLock(
    { ...connection, context, run, forceUnlock: flags.forceUnlock },
    async ({ claim }, signal) =>
      prepareEtcdRejoin(session, { membership: client, claim, emit: run.emit, signal }),
  )
  return { code: exitCodes.ok, result: { outcome: 'done' } }
}
