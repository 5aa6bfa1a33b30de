import type { Finding } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import { minHealthyMembers } from '../rollout/quorum.ts'
import { formatNames } from '../rollout/format-names.ts'
import type { KnownEtcdMember } from './known-etcd-member.ts'
import { hasPeerAddress } from './etcd-membership.ts'

/**
 * Reports an etcd that cannot regain quorum by itself, because too few voters are on reachable hosts. The
 * member list comes from a single member. With enough voters etcd was only stopped or is about to elect a
 * leader.
 */
export function checkLostQuorum(
  members: readonly KnownEtcdMember[],
  plans: readonly Pick<NodePlan, 'address'>[],
): Finding[] {
  const voters = members.filter(({ learner }) => !learner)
  const unreachable = voters.filter((member) => !plans.some(({ address }) => hasPeerAddress(address)(member)))
  const needed = minHealthyMembers(voters.length)
  if (unreachable.length === 0 || voters.length - unreachable.length >= needed) return []
  const names = formatNames(unreachable.map(({ name, peerUrls }) => name || (peerUrls[0] ?? '')))
  return [
    {
      code: 'ROLLOUT_QUORUM',
      severity: 'error',
      message: `etcd has no quorum without ${names}: ${needed} of ${voters.length} members are needed`,
      hint: 'bring them back, and into cluster.yml; if they are lost for good: hyperkube etcd recover',
    },
  ]
}
