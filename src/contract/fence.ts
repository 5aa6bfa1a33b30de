import { z } from 'zod'

/**
 * Identifies the leader that sends a request. Each new leader has a higher `transitions` number. Hosts refuse
 * fences lower than the highest one they know, because a previous leader may not have noticed that it lost
 * its lease.
 */
export const fence = z.strictObject({
  holder: z.string().min(1),
  transitions: z.int().nonnegative(),
})
export type Fence = z.infer<typeof fence>

/**
 * True if a host that knows the fence `highest` may accept a request with the fence `presented`. With equal
 * numbers the holder must be the same.
 */
export function canAct(presented: Fence, highest: Fence | undefined): boolean {
  if (highest === undefined || presented.transitions > highest.transitions) return true
  return presented.transitions === highest.transitions && presented.holder === highest.holder
}
