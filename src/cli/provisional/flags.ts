import { InvalidArgumentError } from 'commander'
import { longestTrial } from '../../contract/provisional-change.ts'
import { parseDuration } from '../../kit/duration.ts'

/** Less is over before anybody has looked. */
const shortest = 60_000
/** Longer than a service may take to start, so that hosts mostly go back one after the other indeed. */
export const usualSlot = 120_000
const longestSlot = 3_600_000

/** What stands after --trial, in milliseconds. */
export function trialFlag(text: string): number {
  const time = parseDuration(text)
  if (time === undefined) throw new InvalidArgumentError('write it as 10m or 1h30m')
  if (time < shortest || time > longestTrial)
    throw new InvalidArgumentError('a minute is the least, and a day the most')
  return time
}

/** What stands after --trial-slot, in milliseconds. */
export function slotFlag(text: string): number {
  const time = parseDuration(text)
  if (time === undefined) throw new InvalidArgumentError('write it as 30s or 2m')
  if (time > longestSlot) throw new InvalidArgumentError('an hour is the most')
  return time
}
