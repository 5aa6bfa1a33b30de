import type { Try, WorkerMemory } from './seen.ts'
import { type Step, subjectOf } from './step.ts'

/** Milliseconds after a step before the same one is taken again: at once when it was not taken lately, then slower and slower. */
export const pauses: readonly number[] = [5000, 10_000, 20_000, 40_000, 80_000, 120_000]
/** After so long, a step counts as new. */
export const forgetAfter = 600_000

/** When a step may be taken again. */
export function mayTakeAt({ tries }: WorkerMemory, step: Step): number {
  const former = tries[subjectOf(step)]
  if (former === undefined) return 0
  return former.last + (pauses[Math.min(former.count, pauses.length) - 1] ?? 0)
}

/** Written down before it is tried: whoever dies over it does not try again at once. */
export function taken(memory: WorkerMemory, step: Step, now: number): WorkerMemory {
  const lately = Object.entries(memory.tries).filter(([, { last }]) => now - last < forgetAfter)
  const tries: Record<string, Try> = Object.fromEntries(lately)
  const subject = subjectOf(step)
  tries[subject] = { count: (tries[subject]?.count ?? 0) + 1, last: now }
  return { ...memory, tries }
}
