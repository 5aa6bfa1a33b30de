import { InvalidArgumentError } from 'commander'
import { maxProvisionalMs } from '../../contract/provisional-change.ts'
import { parseDuration } from '../../kit/time-format.ts'

/**
 * Minimum time for which a change is provisional. An operator must be able to check the change before hosts
 * roll back.
 */
const minProvisionalMs = 60_000
/**
 * Default time between the rollbacks of two hosts. A service usually starts within this time, so hosts roll
 * back one after the other.
 */
export const defaultSlotMs = 120_000
const maxSlotMs = 3_600_000

/** Parses the value of --provisional into milliseconds. */
export function parseProvisionalFlag(text: string): number {
  const time = parseDuration(text)
  if (time === undefined) throw new InvalidArgumentError('expected a duration such as 10m or 1h30m')
  if (time < minProvisionalMs || time > maxProvisionalMs)
    throw new InvalidArgumentError('must be between 1m and 24h')
  return time
}

/** Parses the value of --rollback-interval into milliseconds. */
export function parseSlotFlag(text: string): number {
  const time = parseDuration(text)
  if (time === undefined) throw new InvalidArgumentError('expected a duration such as 30s or 2m')
  if (time > maxSlotMs) throw new InvalidArgumentError('the maximum is 1h')
  return time
}
