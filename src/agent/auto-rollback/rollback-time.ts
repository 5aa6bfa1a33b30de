import { longestTrial, type Trial } from '../../contract/provisional-change.ts'
import { silence } from '../operator-lock/operator-lock.ts'

/** How it is with others who may be at work on the host. */
export interface Quiet {
  /** Since when nobody was seen; never before the agent has started. In milliseconds since 1970. */
  readonly since: number
  /** Whether the last one has said goodbye. Otherwise it takes a while to know that they are gone. */
  readonly left: boolean
}

/** A clock may be a little off. */
const slack = 3_600_000

/**
 * When a host goes back, in milliseconds since 1970. The slot counts from when it could have gone at the earliest: hosts
 * whose power was cut together, or whose operator has died, must not go back together either.
 */
export function backAt(
  { deadline, slot }: Pick<Trial, 'deadline' | 'slot'>,
  quiet: Quiet,
  now: number,
): number {
  const end = Date.parse(deadline)
  // None is so long: the clock was set back meanwhile, and nobody knows by how much.
  const ended = end - now > longestTrial + slack ? 0 : end
  return Math.max(ended, quiet.since + (quiet.left ? 0 : silence)) + slot
}
