import { unlessEtcd } from '../../../etcd/etcd-error.ts'
import { HyperkubeError } from '../../../kit/errors.ts'
import { leaversOf } from '../../../lifecycle/hosts-to-remove.ts'
import { placesIn } from '../../../lifecycle/host-endpoints.ts'
import { openSnapshot } from '../../../snapshot/open.ts'
import type { SnapshotStore } from '../../../snapshot/store.ts'
import { listed } from '../list.ts'
import { openEtcd } from '../open-etcd.ts'
import type { EtcdScene } from '../action.ts'
import { storesOf } from '../stores.ts'
import { trustIn } from '../trust.ts'
import type { Candidate } from './candidate.ts'

/** Of how many snapshots of each place one is told. */
const newest = 3

export interface Survivors {
  readonly candidates: readonly Candidate[]
  /** Members that cluster.yml does not name any more. */
  readonly leftOut: readonly string[]
}

/** Members that still answer, though they cannot decide anything. Where they can, there is nothing to recover. */
export async function survivors(scene: EtcdScene): Promise<Survivors> {
  const { context, options, cluster } = scene
  await using etcd = await openEtcd(context, options.file, cluster, await scene.identity())
  const patience = { timeout: 5000, signal: context.signal }
  if ((await etcd.client.members(patience).catch(unlessEtcd)) !== undefined) {
    throw new HyperkubeError('ETCD_RECOVER_QUORUM', 'etcd has a quorum, and nothing to recover', {
      hint: 'members that are lost leave by: hyperkube node remove; to go back in time: hyperkube etcd snapshot restore',
    })
  }
  const places = placesIn(cluster)
  const looks = places
    .filter(({ etcd: isMember }) => isMember)
    .map(async ({ host, address }): Promise<Candidate[]> => {
      const known = await etcd.client.countKeys(`https://${address}:2379`, patience).catch(unlessEtcd)
      return known === undefined ? [] : [{ kind: 'member', name: host, ...known, taken: context.now() }]
    })
  const candidates = (await Promise.all(looks)).flat()
  const remembered = await etcd.client.members({ ...patience, unconfirmed: true }).catch(unlessEtcd)
  const leftOut = leaversOf(places, remembered?.members ?? [], []).map(({ host }) => host)
  return { candidates, leftOut }
}

/** The newest of each place, by what they say of themselves. One that is not what it should be is told of and left out. */
export async function snapshots(scene: EtcdScene): Promise<readonly Candidate[]> {
  const { context, options, flags, cluster } = scene
  const trust = await trustIn(context, options, await scene.identity())
  const found = new Map<string, Candidate>()
  for (const store of (await storesOf(scene, flags.from)).all) {
    const stored = (await store.list(context.signal)).map((one) => listed(one, store, cluster.metadata.name))
    const last = stored.toSorted((a, b) => (a.taken < b.taken ? 1 : -1)).slice(0, newest)
    for (const { name } of last.filter((one) => !found.has(one.name))) {
      const candidate = await frontOf(store, name, scene, trust)
      if (candidate !== undefined) found.set(name, candidate)
    }
  }
  return [...found.values()]
}

async function frontOf(
  store: SnapshotStore,
  name: string,
  { context }: EtcdScene,
  trust: Parameters<typeof openSnapshot>[1],
): Promise<Candidate | undefined> {
  const reading = new AbortController()
  const bytes = store.read(name, AbortSignal.any([context.signal, reading.signal]))
  try {
    const { manifest } = await openSnapshot(bytes, trust)
    const { revision, keys, created } = manifest
    return { kind: 'snapshot', name, revision, keys, taken: new Date(created) }
  } catch (error) {
    if (!(error instanceof HyperkubeError)) throw error
    context.stderr.write(`${name}: ${error.code}: ${error.message}\n`)
    return undefined
  } finally {
    // What follows is large, and not needed.
    reading.abort()
  }
}
