import type { Condition } from '../contract/host-resource.ts'
import type { KnownCondition } from './watch-specs.ts'

/** What somebody wants to have said of an object. */
export type ConditionWish = Omit<Condition, 'lastTransitionTime'>

/** Whether all of it is said there already, in the same words. */
export function areSaid(wishes: readonly ConditionWish[], there: readonly KnownCondition[]): boolean {
  return wishes.every((wish) => {
    const now = there.find(({ type }) => type === wish.type)
    return (
      now !== undefined &&
      now.status === wish.status &&
      now.reason === wish.reason &&
      now.message === wish.message
    )
  })
}

/** As it is written: the time is that of the last change of the status, and not of the words. */
export function withTimes(
  wishes: readonly ConditionWish[],
  there: readonly KnownCondition[],
  now: Date,
): Condition[] {
  return wishes.map((wish) => {
    const before = there.find(({ type, status }) => type === wish.type && status === wish.status)
    return { ...wish, lastTransitionTime: before?.lastTransitionTime ?? now.toISOString() }
  })
}
