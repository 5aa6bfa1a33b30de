import type { HostCondition } from '../contract/host-resource.ts'
import type { KnownCondition } from './watch-specs.ts'

/** A desired condition of an object. */
export type ConditionSpec = Omit<HostCondition, 'lastTransitionTime'>

/** True if the object already has all conditions with the same status, reason and message. */
export function areConditionsCurrent(
  desired: readonly ConditionSpec[],
  current: readonly KnownCondition[],
): boolean {
  return desired.every((condition) => {
    const now = current.find(({ type }) => type === condition.type)
    return (
      now !== undefined &&
      now.status === condition.status &&
      now.reason === condition.reason &&
      now.message === condition.message
    )
  })
}

/** Adds the time of the last status change. A change of the message alone keeps the time. */
export function addTransitionTimes(
  desired: readonly ConditionSpec[],
  current: readonly KnownCondition[],
  now: Date,
): HostCondition[] {
  return desired.map((condition) => {
    const before = current.find(({ type, status }) => type === condition.type && status === condition.status)
    return { ...condition, lastTransitionTime: before?.lastTransitionTime ?? now.toISOString() }
  })
}
