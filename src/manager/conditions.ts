import type { HostCondition } from '../contract/host-resource.ts'
import type { KnownCondition } from './watch-specs.ts'

/** A desired condition of an object, without its transition time. */
export type ConditionSpec = Omit<HostCondition, 'lastTransitionTime'>

/** True if the object already has all desired conditions with the same status, reason and message. */
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

/** Adds the transition time to conditions. The time changes only when the status changes. */
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
