import type { Finding } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import { minHealthyMembers } from '../rollout/quorum.ts'
import { formatNames } from '../rollout/format-names.ts'
import type { KnownEtcdMember } from './known-etcd-member.ts'
import { hasPeerAddress } from './etcd-membership.ts'

/**
 * Checks whether an etcd without quorum cannot recover by itself: too few voters, as one member remembers
 * them, are on reachable hosts. With enough voters etcd was only stopped or is about to elect a leader.
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
