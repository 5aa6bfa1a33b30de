import { elapsed } from './elapsed.ts'

/** How often a host is disturbed: at most so many times in so many milliseconds. */
export interface Budget {
  readonly most: number
  readonly within: number
}

export const usualBudget: Budget = { most: 10, within: 600_000 }

/** Of the times something was spent those that still count. */
export function spentOf(spent: readonly string[], { within }: Budget, now: number): string[] {
  return spent.filter((at) => elapsed(at, now) < within)
}
