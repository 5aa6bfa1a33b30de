import { EtcdError } from './etcd-error.ts'
import { type Member, type Observation, titleOf } from './member.ts'
import { quorumAfterLosing, quorumAfterRemoving, quorumNow } from './quorum.ts'

/** etcd takes one learner at a time; and while a voter is away, one more would only raise what is needed. */
export function checkAddition({ members, health }: Observation): void {
  const learner = members.find((member) => member.learner)
  if (learner !== undefined) {
    throw new EtcdError('ETCD_LEARNER', `${titleOf(learner)} still learns, and etcd takes one at a time`, {
      hint: 'let it vote, or take it out, before another one comes',
    })
  }
  const away = members.filter(({ id }) => health.get(id)?.ready !== true)
  if (away.length > 0) {
    throw new EtcdError('ETCD_QUORUM', `${names(away)} cannot be heard, and nobody joins meanwhile`, {
      hint: 'bring it back, or take it out first',
    })
  }
}

/** A voter more needs more votes: there must be enough without the new one. */
export function checkPromotion({ members, health }: Observation): void {
  const { well, voters } = quorumNow(members, health)
  if (well === voters) return
  throw new EtcdError(
    'ETCD_QUORUM',
    `only ${well} of ${voters} voters are well, and nobody joins them meanwhile`,
  )
}

/** A learner may always go: nobody counts on it. */
export function checkRemoval({ members, health }: Observation, id: string): void {
  const member = members.find((one) => one.id === id)
  if (member === undefined || member.learner) return
  const { kept, voters, well, needed } = quorumAfterRemoving(members, health, id)
  if (kept) return
  const message = `without ${titleOf(member)}, ${well} of ${voters} voters would be well, and ${needed} are needed`
  throw new EtcdError('ETCD_QUORUM', message, { hint: 'bring another one back first' })
}

/** While it answers nobody, the others must be enough. Where it is alone there is nobody who could be. */
export function checkPause({ members, health }: Observation, id: string): void {
  const member = members.find((one) => one.id === id)
  if (member === undefined || member.learner) return
  const { kept, voters, well, needed } = quorumAfterLosing(members, health, id)
  if (kept || voters === 1) return
  const message = `while ${titleOf(member)} answers nobody, ${well} of ${voters} voters would be well, and ${needed} are needed`
  throw new EtcdError('ETCD_QUORUM', message, { hint: 'bring another one back first' })
}

function names(members: readonly Member[]): string {
  return members.map(titleOf).join(', ')
}
