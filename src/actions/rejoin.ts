import { HyperkubeError } from '../kit/errors.ts'
import type { ClusterClient } from '../lifecycle/cluster-client/cluster-client.ts'
import { createClusterClient } from '../lifecycle/cluster-client/create-cluster-client.ts'
import { prepareEtcdRejoin } from '../lifecycle/etcd/rejoin.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import { listClusterEndpoints } from '../lifecycle/inputs/host-endpoints.ts'
import type { Session } from '../lifecycle/agents/session.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { WorkspaceContext } from '../workspace/context.ts'
import { buildClientOptions } from '../workspace/open-cluster.ts'
import { type ActionOutcome, type ActionRun, buildUnconfirmedOutcome } from './phases/action-run.ts'
import { type ClusterConnection, connectCluster, type ConnectClusterOptions } from './phases/connect.ts'
import { withOperatorLock } from './phases/with-operator-lock.ts'
import { createRemoteLookup } from './phases/propose.ts'

export interface RejoinOptions extends ConnectClusterOptions {
  /** Host whose etcd member must join again. */
  readonly host: string
  readonly forceUnlock: boolean
  /** Whether changes are only shown. */
  readonly dryRun: boolean
}

/**
 * Prepares a host whose etcd member has lost or damaged data for joining as a new member. `up` must follow.
 * Phases: connect, check the members, show, confirm, remove the member and move its data aside.
 */
export async function prepareRejoin(
  context: WorkspaceContext,
  inputs: ClusterInputs,
  options: RejoinOptions,
  run: ActionRun,
): Promise<ActionOutcome> {
  const { host, forceUnlock } = options
  const endpoints = listClusterEndpoints(inputs.cluster)
  await using connection = await connectCluster(context, inputs, options, run)
  using client = await createClusterClient(endpoints, {
    ...buildClientOptions(connection.inputs, context, createRemoteLookup(connection.connected)),
    signal: connection.deferredSignal,
  })
  await requireUnhealthyMember(inputs.cluster, host, client)
  const session = requireSession(connection, host)
  run.show({ type: 'rejoin', host })
  if (options.dryRun) return { status: 'changes-pending', result: { outcome: 'unchanged' } }
  const confirmation = await run.confirm({ type: 'changes' })
  if (confirmation !== 'confirmed') return buildUnconfirmedOutcome(confirmation)
  connection.deferAbort()
  await withOperatorLock({ ...connection, context, run, forceUnlock }, async ({ claim }, signal) =>
    prepareEtcdRejoin(session, {
      removeEtcdMember: async (member) => client.removeEtcdMember(member),
      claim,
      emit: run.emit,
      signal,
    }),
  )
  return { status: 'ok', result: { outcome: 'done' } }
}

/**
 * Throws if the member is healthy, or if the other members have no quorum from which it could copy the data.
 */
async function requireUnhealthyMember(
  cluster: Cluster,
  host: string,
  client: Pick<ClusterClient, 'members' | 'etcdHealthy'>,
): Promise<void> {
  if ((await client.etcdHealthy([host])) === undefined) {
    throw new HyperkubeError(
      'ETCD_REJOIN_HEALTHY',
      'its etcd member is healthy and does not need to rejoin',
      { host, hint: 'hyperkube etcd status' },
    )
  }
  const others = listClusterEndpoints(cluster).filter((one) => one.etcd && one.host !== host)
  if ((await client.members()).length > 0 && others.length > 0) return
  throw new HyperkubeError(
    'ETCD_REJOIN_NO_QUORUM',
    'the other etcd members have no quorum, so this member cannot copy their data',
    { host, hint: 'recover etcd from a surviving member or a snapshot: hyperkube etcd recover --dry-run' },
  )
}

function requireSession({ connected }: ClusterConnection, host: string): Session {
  const session = connected.sessions.get(host)
  if (session !== undefined) return session
  throw new HyperkubeError('ETCD_REJOIN_UNREACHABLE', 'the host is unreachable; nothing was changed', {
    host,
    hint: `restore ssh access to ${host}; if the host is lost permanently: hyperkube node remove ${host}`,
  })
}
