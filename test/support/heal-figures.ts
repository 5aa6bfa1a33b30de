import { z } from 'zod'
import type { HealRow } from './heal-row.ts'

/** How what an operator was told stands to the fault: `too soon` was one that was over before anybody could ask. */
const named = z.enum(['first', 'not first', 'too soon', 'not needed'])
export type Named = z.infer<typeof named>

/** What came of a fault once. Times are in milliseconds. */
const healRun = z.strictObject({
  host: z.string(),
  /** From the fault to the first word of an agent. */
  detected: z.number().optional(),
  /** From the fault, or from when the world was well again, until everything works. */
  healed: z.number().optional(),
  apiFailed: z.int(),
  serviceFailed: z.int(),
  acknowledged: z.int(),
  lost: z.int(),
  /** What agents did, each once: nothing when systemd was enough. */
  actions: z.array(z.string()).readonly(),
  /** The first line of what `doctor` said. */
  told: z.string().optional(),
  named,
  /** Services that ended by their own doing, where nobody was to touch any: their lease was lost. */
  leftByThemselves: z.int().optional(),
  /** Why it has not gone as it should. */
  wrong: z.array(z.string()).readonly(),
})
export type HealRun = z.infer<typeof healRun>

/** All runs of a row. */
const healResult = z.strictObject({
  row: z.object({
    id: z.string(),
    what: z.string(),
    expects: z.enum(['heals', 'refuses', 'waits-for-world']),
  }),
  runs: z.array(healRun).readonly(),
})
export type HealResult = z.infer<typeof healResult>

/** As they are kept between commands, of which each may run a part of the table. */
export const healResults = z.array(healResult)

/** What is known of each row, in the order of the table: what came of it now, or else before. */
export function merged(
  rows: readonly Pick<HealRow, 'id'>[],
  before: readonly HealResult[],
  now: readonly HealResult[],
): HealResult[] {
  const known = new Map([...before, ...now].map((result) => [result.row.id, result]))
  return rows.flatMap(({ id }) => known.get(id) ?? [])
}

/** A row without agents. */
export interface AloneResult {
  readonly row: Pick<HealRow, 'id' | 'what'>
  /** Milliseconds; undefined: not as long as it was waited for. */
  readonly healed: number | undefined
  readonly wrong: readonly string[]
}

/** The middle one, or the mean of the two in the middle; what is not known is left out. */
export function median(values: readonly (number | undefined)[]): number | undefined {
  const sorted = values.filter((value) => value !== undefined).toSorted((a, b) => a - b)
  const [left, right] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return left === undefined || right === undefined ? undefined : (left + right) / 2
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
