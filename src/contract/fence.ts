import { z } from 'zod'

/**
 * Shows in whose name something is asked: each leader has a higher number than all before it. Whoever is asked remembers
 * the highest, and does nothing for a lower one: a former leader may not know yet that it is one.
 */
export const fence = z.strictObject({
  holder: z.string().min(1),
  transitions: z.int().nonnegative(),
})
export type Fence = z.infer<typeof fence>

/** Whether one who shows this may act, where `highest` has been shown before. Two can never share a number. */
export function mayAct(asking: Fence, highest: Fence | undefined): boolean {
  if (highest === undefined || asking.transitions > highest.transitions) return true
  return asking.transitions === highest.transitions && asking.holder === highest.holder
}
