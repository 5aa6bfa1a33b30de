import type { EtcdClient } from '../../../etcd/client.ts'
import { ignoreEtcdError } from '../../../etcd/etcd-error.ts'
import type { KeyCount, EtcdMember } from '../../../etcd/member.ts'
import type { HostEndpoint } from '../../../lifecycle/host-endpoints.ts'

export interface CurrentEtcd {
  /** From one member, without a quorum. */
  readonly members: readonly EtcdMember[]
  /** From the member with the highest revision. */
  readonly current: KeyCount | undefined
}

/** Reads members and key count from the members that answer. */
export async function readCurrentEtcd(
  etcd: EtcdClient,
  endpoints: readonly HostEndpoint[],
): Promise<CurrentEtcd> {
  const options = { timeoutMs: 3000 }
  const counts = await Promise.all(
    endpoints.map(async ({ address }) =>
      etcd.countKeys(`https://${address}:2379`, options).catch(ignoreEtcdError),
    ),
  )
  const [current] = counts.flatMap((one) => one ?? []).toSorted((a, b) => b.revision - a.revision)
  const list =
    current === undefined
      ? undefined
      : await etcd.members({ ...options, unconfirmed: true }).catch(ignoreEtcdError)
  return { members: list?.members ?? [], current }
}
