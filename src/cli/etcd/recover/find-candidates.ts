import { ignoreEtcdError } from '../../../etcd/etcd-error.ts'
import { formatError, HyperkubeError } from '../../../kit/errors.ts'
import { buildEtcdUrl } from '../../../lifecycle/cluster-client/connections.ts'
import { listClusterEndpoints } from '../../../lifecycle/inputs/host-endpoints.ts'
import { findHostsToRemove } from '../../../lifecycle/proposal/hosts-to-remove.ts'
import { openSnapshot } from '../../../snapshot/open.ts'
import type { SnapshotStore } from '../../../snapshot/store.ts'
import { openEtcd } from '../../../workspace/open-cluster.ts'
import type { EtcdInvocation } from '../action.ts'
import { toSnapshotRow } from '../list.ts'
import { listUnlessFailed, openSnapshotStores } from '../stores.ts'
import { loadSnapshotTrust } from '../trust.ts'
import type { RecoveryCandidate } from './candidate.ts'

/** Maximum number of snapshots offered from each store. */
const maxPerStore = 3

export interface SurvivingMembers {
  readonly candidates: readonly RecoveryCandidate[]
  /** Members that cluster.yml does not name any more. */
  readonly leftOut: readonly string[]
}

/**
 * Finds members that still respond without a quorum. Fails if etcd has a quorum, because then there is
 * nothing to recover.
 */
export async function findSurvivingMembers(invocation: EtcdInvocation): Promise<SurvivingMembers> {
  const { context, options, cluster } = invocation
  await using etcd = await openEtcd(context, options.file, cluster, await invocation.identity())
  const callOptions = { timeoutMs: 5000, signal: context.signal }
  if ((await etcd.client.members(callOptions).catch(ignoreEtcdError)) !== undefined) {
    throw new HyperkubeError('ETCD_RECOVER_QUORUM', 'etcd has a quorum and does not need recovery', {
      hint: 'remove a lost member: hyperkube node remove HOST; restore earlier data: hyperkube etcd snapshot restore NAME',
    })
  }
  const endpoints = listClusterEndpoints(cluster)
  const counts = endpoints
    .filter(({ etcd: isMember }) => isMember)
    .map(async (endpoint): Promise<RecoveryCandidate[]> => {
      const counted = await etcd.client.countKeys(buildEtcdUrl(endpoint), callOptions).catch(ignoreEtcdError)
      return counted === undefined
        ? []
        : [{ kind: 'member', name: endpoint.host, ...counted, taken: context.now() }]
    })
  const candidates = (await Promise.all(counts)).flat()
  const memberList = await etcd.client.members({ ...callOptions, unconfirmed: true }).catch(ignoreEtcdError)
  const leftOut = findHostsToRemove(endpoints, memberList?.members ?? [], []).map(({ host }) => host)
  return { candidates, leftOut }
}

export interface StoredCandidates {
  readonly candidates: readonly RecoveryCandidate[]
  /** Errors of stores that cannot be read. Such a store may have a newer snapshot than the candidates. */
  readonly storeErrors: readonly HyperkubeError[]
}

/**
 * Finds the newest snapshots of each store and reads their manifests. Reports invalid snapshots and leaves
 * them out. A store that cannot be read is reported too, because a bucket is often unreachable in the outage
 * that took the quorum, and members or other stores may have all data.
 */
export async function findSnapshotCandidates(invocation: EtcdInvocation): Promise<StoredCandidates> {
  const { context, options, flags, cluster } = invocation
  const trust = await loadSnapshotTrust(context, options, await invocation.identity())
  const found = new Map<string, RecoveryCandidate>()
  const storeErrors: HyperkubeError[] = []
  for (const store of (await openSnapshotStores(invocation, flags.from)).all) {
    const listed = await listUnlessFailed(store, context.signal)
    if (listed instanceof HyperkubeError) {
      context.stderr.write(`${listed.code}: ${formatError(listed)}; its snapshots are not in the list\n`)
      storeErrors.push(listed)
      continue
    }
    const stored = listed.map((one) => toSnapshotRow(one, store, cluster.metadata.name))
    const latest = stored.toSorted((a, b) => (a.taken < b.taken ? 1 : -1)).slice(0, maxPerStore)
    for (const { name } of latest.filter((one) => !found.has(one.name))) {
      const candidate = await readCandidate(store, name, invocation, trust)
      if (candidate !== undefined) found.set(name, candidate)
    }
  }
  return { candidates: [...found.values()], storeErrors }
}

async function readCandidate(
  store: SnapshotStore,
  name: string,
  { context }: EtcdInvocation,
  trust: Parameters<typeof openSnapshot>[1],
): Promise<RecoveryCandidate | undefined> {
  const readAbort = new AbortController()
  const bytes = store.read(name, AbortSignal.any([context.signal, readAbort.signal]))
  try {
    const { manifest } = await openSnapshot(bytes, trust)
    const { revision, keys, created } = manifest
    return { kind: 'snapshot', name, revision, keys, taken: new Date(created) }
  } catch (error) {
    if (!(error instanceof HyperkubeError)) throw error
    context.stderr.write(`${name}: ${error.code}: ${error.message}\n`)
    return undefined
  } finally {
    // Stops reading after the manifest: the database that follows is large and not needed.
    readAbort.abort()
  }
}
