import { z } from 'zod'
import type { HealRow } from './heal-row.ts'

/**
 * Whether `doctor` reported a fault as its first finding. `too soon` means that the fault was over before
 * doctor could run.
 */
const namingResult = z.enum(['first', 'not first', 'too soon', 'not needed'])
export type NamingResult = z.infer<typeof namingResult>

/** Result of one run of a fault. Times are in milliseconds. */
const healRun = z.strictObject({
  host: z.string(),
  /** Time from the fault until an agent detected it. */
  detected: z.number().optional(),
  /** Time until everything works, from the fault or, if the cause was external, from the end of the cause. */
  healed: z.number().optional(),
  apiFailed: z.int(),
  serviceFailed: z.int(),
  acknowledged: z.int(),
  lost: z.int(),
  /** Distinct actions of agents; empty if systemd was enough. */
  actions: z.array(z.string()).readonly(),
  /** First finding of `doctor`, as text. */
  firstFinding: z.string().optional(),
  named: namingResult,
  /** Number of service restarts because of a lost lease. Set only for faults that allow no other restart. */
  leaderRestarts: z.int().optional(),
  /** Reasons why the run failed. */
  problems: z.array(z.string()).readonly(),
})
export type HealRun = z.infer<typeof healRun>

/** Results of all runs of one fault. */
const healResult = z.strictObject({
  row: z.object({
    id: z.string(),
    what: z.string(),
    expects: z.enum(['heals', 'refuses', 'waits-for-recovery']),
  }),
  runs: z.array(healRun).readonly(),
})
export type HealResult = z.infer<typeof healResult>

/** Format of the results file. Several test commands, each with some of the faults, can fill it. */
export const healResults = z.array(healResult)

/** Returns the newest result of each fault that has one, in the order of `rows`. */
export function mergeResults(
  rows: readonly Pick<HealRow, 'id'>[],
  before: readonly HealResult[],
  now: readonly HealResult[],
): HealResult[] {
  const resultById = new Map([...before, ...now].map((result) => [result.row.id, result]))
  return rows.flatMap(({ id }) => resultById.get(id) ?? [])
}

/** Result of a fault while agents are stopped. */
export interface WithoutAgentsResult {
  readonly row: Pick<HealRow, 'id' | 'what'>
  /** Milliseconds until the fault healed; undefined if it did not heal before the timeout. */
  readonly healed: number | undefined
  readonly problems: readonly string[]
}

/** Median of the values that are not undefined. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b)
  const [left, right] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return left === undefined || right === undefined ? undefined : (left + right) / 2
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
