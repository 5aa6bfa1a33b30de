import { EtcdError } from './etcd-error.ts'
import { type EtcdMember, type EtcdObservation, formatMember } from './member.ts'
import { quorumAfterLosing, quorumAfterRemoving, currentQuorum } from './quorum.ts'

/** etcd allows one learner at a time. While a voter is down, another member would only raise the quorum. */
export function checkAddition({ members, health }: EtcdObservation): void {
  const learner = members.find((member) => member.learner)
  if (learner !== undefined) {
    throw new EtcdError(
      'ETCD_LEARNER',
      `${formatMember(learner)} still learns, and etcd takes one at a time`,
      {
        hint: 'let it vote, or take it out, before another one comes',
      },
    )
  }
  const unreachable = members.filter(({ id }) => health.get(id)?.ready !== true)
  if (unreachable.length > 0) {
    throw new EtcdError(
      'ETCD_QUORUM',
      `${formatMembers(unreachable)} cannot be reached, and no member can join meanwhile`,
      {
        hint: 'bring it back, or take it out first',
      },
    )
  }
}

/** Another voter raises the quorum: the existing voters must reach it without the new one. */
export function checkPromotion({ members, health }: EtcdObservation): void {
  const { healthy, voters } = currentQuorum(members, health)
  if (healthy === voters) return
  throw new EtcdError(
    'ETCD_QUORUM',
    `only ${healthy} of ${voters} voters are healthy, and no member can join meanwhile`,
  )
}

/** A learner can always be removed, because it does not vote. */
export function checkRemoval({ members, health }: EtcdObservation, id: string): void {
  const member = members.find((one) => one.id === id)
  if (member === undefined || member.learner) return
  const { hasQuorum, voters, healthy, needed } = quorumAfterRemoving(members, health, id)
  if (hasQuorum) return
  const message = `without ${formatMember(member)}, ${healthy} of ${voters} voters would be healthy, and ${needed} are needed`
  throw new EtcdError('ETCD_QUORUM', message, { hint: 'bring another one back first' })
}

/** While the member serves no requests, the others must keep the quorum. A single member has no others. */
export function checkDowntime({ members, health }: EtcdObservation, id: string): void {
  const member = members.find((one) => one.id === id)
  if (member === undefined || member.learner) return
  const { hasQuorum, voters, healthy, needed } = quorumAfterLosing(members, health, id)
  if (hasQuorum || voters === 1) return
  const message = `while ${formatMember(member)} serves no requests, ${healthy} of ${voters} voters would be healthy, and ${needed} are needed`
  throw new EtcdError('ETCD_QUORUM', message, { hint: 'bring another one back first' })
}

function formatMembers(members: readonly EtcdMember[]): string {
  return members.map(formatMember).join(', ')
}
