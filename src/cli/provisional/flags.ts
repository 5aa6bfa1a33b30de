import { InvalidArgumentError } from 'commander'
import { maxProvisionalMs } from '../../contract/provisional-change.ts'
import { parseDuration } from '../../kit/duration.ts'

/** A shorter time would pass before an operator has checked the change. */
const minProvisionalMs = 60_000
/** Longer than the start of a service takes, so that hosts usually roll back one after the other. */
export const defaultSlotMs = 120_000
const maxSlotMs = 3_600_000

/** Parses --provisional, in milliseconds. */
export function parseProvisionalFlag(text: string): number {
  const time = parseDuration(text)
  if (time === undefined) throw new InvalidArgumentError('write it as 10m or 1h30m')
  if (time < minProvisionalMs || time > maxProvisionalMs)
    throw new InvalidArgumentError('a minute is the least, and a day the most')
  return time
}

/** Parses --rollback-interval, in milliseconds. */
export function parseSlotFlag(text: string): number {
  const time = parseDuration(text)
  if (time === undefined) throw new InvalidArgumentError('write it as 30s or 2m')
  if (time > maxSlotMs) throw new InvalidArgumentError('an hour is the most')
  return time
}
