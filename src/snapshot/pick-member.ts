import { EtcdError } from '../etcd/etcd-error.ts'
import type { EtcdMember, EtcdObservation } from '../etcd/member.ts'

export interface MemberSource {
  readonly member: EtcdMember
  readonly endpoint: string
  readonly version: string
}

/**
 * Picks the member whose database is saved: a healthy one, preferably not the leader, which has most work.
 * Without a quorum, any member that still answers. Among equals, the one with the highest applied index.
 */
export function pickMember({ members, health, statuses }: EtcdObservation): MemberSource {
  const candidates = members.flatMap((member) => {
    const [status, { live = false, ready = false } = {}] = [statuses.get(member.id), health.get(member.id)]
    const [endpoint] = member.clientUrls
    if (!live || status === undefined || endpoint === undefined || member.learner) return []
    const isLeader = status.leader === member.id
    const source = { member, endpoint, version: status.version }
    return [{ source, rank: [Number(ready), Number(!isLeader), status.raftAppliedIndex] }]
  })
  const [best] = candidates.toSorted((a, b) => compareRanks(b.rank, a.rank))
  if (best !== undefined) return best.source
  throw new EtcdError('ETCD_UNREACHABLE', 'no member of etcd answers that could give its database', {
    hint: 'hyperkube etcd status',
  })
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const differences = a.map((value, index) => value - (b[index] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}
