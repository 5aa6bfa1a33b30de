import { z } from 'zod'
import { roles } from '../../src/agent/windows/reconcile/worker-spec.ts'
import { faultNames } from './simulator/faults.ts'

/** What a test does to a host beside what comes by ssh, as a line that no shell of Windows would understand. */
const adjustment = z.discriminatedUnion('lab', [
  /** All that a reset has to give back, in one document. */
  z.strictObject({ lab: z.literal('look') }),
  z.strictObject({ lab: z.literal('remove-rule'), name: z.string() }),
  /** One of the simulator's own faults, to one of its services. */
  z.strictObject({ lab: z.literal('inflict'), name: z.enum(faultNames), role: z.enum(roles) }),
])
export type Adjustment = z.infer<typeof adjustment>

export function adjust(word: string, [name, role]: readonly string[]): string {
  const given = { ...(name === undefined ? {} : { name }), ...(role === undefined ? {} : { role }) }
  return JSON.stringify(adjustment.parse({ lab: word, ...given }))
}

/** Undefined of a line that is none. */
export function adjustmentIn(line: string): Adjustment | undefined {
  return line.startsWith('{') ? adjustment.parse(JSON.parse(line)) : undefined
}
