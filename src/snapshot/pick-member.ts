import { EtcdError } from '../etcd/etcd-error.ts'
import type { Member, Observation } from '../etcd/member.ts'

export interface Source {
  readonly member: Member
  readonly endpoint: string
  readonly version: string
}

/**
 * Who gives its database: one that is well, and better not the leader, which has work enough. Where none is well, as
 * without a quorum, one that still answers: what it knows is more than nothing. Among equals who has come furthest.
 */
export function pickMember({ members, health, statuses }: Observation): Source {
  const candidates = members.flatMap((member) => {
    const [status, { live = false, ready = false } = {}] = [statuses.get(member.id), health.get(member.id)]
    const [endpoint] = member.clientUrls
    if (!live || status === undefined || endpoint === undefined || member.learner) return []
    const leads = status.leader === member.id
    const source = { member, endpoint, version: status.version }
    return [{ source, rank: [Number(ready), Number(!leads), status.raftAppliedIndex] }]
  })
  const [best] = candidates.toSorted((a, b) => compare(b.rank, a.rank))
  if (best !== undefined) return best.source
  throw new EtcdError('ETCD_UNREACHABLE', 'no member of etcd answers that could give its database', {
    hint: 'hyperkube etcd status',
  })
}

function compare(a: readonly number[], b: readonly number[]): number {
  const differences = a.map((value, index) => value - (b[index] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}
