import { maxProvisionalMs, type ProvisionalChange } from '../../contract/provisional-change.ts'
import { lockTimeoutMs } from '../operator-lock/operator-lock.ts'

/** Since when no operator works on the host. */
export interface Inactivity {
  /** Since when no operator was active; never before the agent has started. Milliseconds since 1970. */
  readonly since: number
  /** Whether the last operator has released the claim. Otherwise the claim must time out first. */
  readonly isReleased: boolean
}

/** Tolerated clock error. */
const maxClockErrorMs = 3_600_000

/**
 * Returns when a host rolls back, in milliseconds since 1970. The delay counts from the earliest possible
 * rollback: hosts that lost power together, or whose operator died, must not roll back together.
 */
export function computeRollbackTime(
  { deadline, rollbackDelayMs }: Pick<ProvisionalChange, 'deadline' | 'rollbackDelayMs'>,
  inactivity: Inactivity,
  now: number,
): number {
  const end = Date.parse(deadline)
  // No provisional change lasts that long: the clock was set back by an unknown amount.
  const endsAt = end - now > maxProvisionalMs + maxClockErrorMs ? 0 : end
  return Math.max(endsAt, inactivity.since + (inactivity.isReleased ? 0 : lockTimeoutMs)) + rollbackDelayMs
}
