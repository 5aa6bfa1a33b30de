import type { Finding } from '../contract/finding.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import { quorum } from '../rollout/quorum.ts'
import { list } from '../rollout/format-names.ts'
import type { KnownMember } from './current-state.ts'
import { isAt } from './etcd-membership.ts'

/**
 * Whether an etcd that cannot decide anything never will by itself: of those who vote, as one of them remembers it, too few
 * are on hosts that answer. Where there are enough of them, they were stopped, or are about to choose a leader.
 */
export function lostQuorum(
  remembered: readonly KnownMember[],
  plans: readonly Pick<NodePlan, 'address'>[],
): Finding[] {
  const voters = remembered.filter(({ learner }) => !learner)
  const gone = voters.filter((member) => !plans.some(({ address }) => isAt(address)(member)))
  const needed = quorum(voters.length)
  if (gone.length === 0 || voters.length - gone.length >= needed) return []
  const names = list(gone.map(({ name, peerUrls }) => name || (peerUrls[0] ?? '')))
  return [
    {
      code: 'ROLLOUT_QUORUM',
      severity: 'error',
      message: `etcd has no quorum without ${names}: ${needed} of ${voters.length} members are needed`,
      hint: 'bring them back, and into cluster.yml; if they are lost for good: hyperkube etcd recover',
    },
  ]
}
