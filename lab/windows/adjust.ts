import { z } from 'zod'

/** What a test does to a host beside what comes by ssh, as a line that no shell of Windows would understand. */
const adjustment = z.discriminatedUnion('lab', [
  /** All that a reset has to give back, in one document. */
  z.strictObject({ lab: z.literal('look') }),
  z.strictObject({ lab: z.literal('remove-rule'), name: z.string() }),
  z.strictObject({ lab: z.literal('stop-service'), name: z.string() }),
])
export type Adjustment = z.infer<typeof adjustment>

export function adjust(word: string, [name = '']: readonly string[]): string {
  return JSON.stringify(adjustment.parse(word === 'look' ? { lab: word } : { lab: word, name }))
}

/** Undefined of a line that is none. */
export function adjustmentIn(line: string): Adjustment | undefined {
  return line.startsWith('{') ? adjustment.parse(JSON.parse(line)) : undefined
}
