import type { EtcdClient } from '../../../etcd/client.ts'
import { unlessEtcd } from '../../../etcd/etcd-error.ts'
import type { KeyCount, Member } from '../../../etcd/member.ts'
import type { Place } from '../../../lifecycle/host-endpoints.ts'

export interface EtcdNow {
  /** As one of them remembers it. */
  readonly members: readonly Member[]
  /** What is known by who knows most of it. */
  readonly current: KeyCount | undefined
}

/** What etcd says of itself, as far as anybody of it answers. */
export async function etcdNow(etcd: EtcdClient, places: readonly Place[]): Promise<EtcdNow> {
  const options = { timeout: 3000 }
  const counts = await Promise.all(
    places.map(async ({ address }) => etcd.countKeys(`https://${address}:2379`, options).catch(unlessEtcd)),
  )
  const [current] = counts.flatMap((one) => one ?? []).toSorted((a, b) => b.revision - a.revision)
  const list =
    current === undefined
      ? undefined
      : await etcd.members({ ...options, unconfirmed: true }).catch(unlessEtcd)
  return { members: list?.members ?? [], current }
}
