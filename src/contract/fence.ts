import { z } from 'zod'

/**
 * Identifies the leader that sends a request. Each leader has a higher number than all previous ones. Hosts
 * remember the highest and refuse lower ones, because a previous leader may not know yet that it lost its
 * lease.
 */
export const fence = z.strictObject({
  holder: z.string().min(1),
  transitions: z.int().nonnegative(),
})
export type Fence = z.infer<typeof fence>

/** True if a leader with this fence may act after `highest` was seen. Two leaders never share a number. */
export function canAct(presented: Fence, highest: Fence | undefined): boolean {
  if (highest === undefined || presented.transitions > highest.transitions) return true
  return presented.transitions === highest.transitions && presented.holder === highest.holder
}
