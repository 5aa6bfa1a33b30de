import { maxProvisionalMs, type ProvisionalChange } from '../../contract/provisional-change.ts'
import { lockTimeoutMs } from '../operator-lock/operator-lock.ts'

/** The time without an active operator. */
export interface Inactivity {
  /**
   * Time of the last operator activity or of the agent's start, whichever is later, in milliseconds since
   * 1970.
   */
  readonly since: number
  /** Whether the last operator has released the claim. Otherwise the claim must time out first. */
  readonly isReleased: boolean
}

/** Tolerated clock error in milliseconds. */
const maxClockErrorMs = 3_600_000

/**
 * Returns when a host rolls back, in milliseconds since 1970. The delay of each host keeps hosts that lost
 * their operator or power at the same time from rolling back together.
 */
export function computeRollbackTime(
  { deadline, rollbackDelayMs }: Pick<ProvisionalChange, 'deadline' | 'rollbackDelayMs'>,
  inactivity: Inactivity,
  now: number,
): number {
  const end = Date.parse(deadline)
  // A provisional change cannot last that long, so the clock was set back by an unknown amount.
  const endsAt = end - now > maxProvisionalMs + maxClockErrorMs ? 0 : end
  return Math.max(endsAt, inactivity.since + (inactivity.isReleased ? 0 : lockTimeoutMs)) + rollbackDelayMs
}
