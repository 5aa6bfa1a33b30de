import { elapsed } from './elapsed.ts'

/** Limits how often a host is disrupted: at most `max` times in `windowMs` milliseconds. */
export interface HealBudget {
  readonly max: number
  readonly windowMs: number
}

export const defaultHealBudget: HealBudget = { max: 10, windowMs: 600_000 }

/** Returns the disruptions that still count against the budget. */
export function filterRecentDisruptions(
  disruptions: readonly string[],
  { windowMs }: HealBudget,
  now: number,
): string[] {
  return disruptions.filter((at) => elapsed(at, now) < windowMs)
}
