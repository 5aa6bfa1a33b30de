import { z } from 'zod'
import { op } from './op.ts'
import type { Format } from './versioned.ts'

const result = {
  outcome: z.enum(['done', 'unchanged', 'failed', 'interrupted']),
  failure: z.strictObject({ code: z.string(), message: z.string() }).optional(),
}

const what = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('run-started'),
    command: z.string(),
    /** The digest of the plan. */
    plan: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('run-ended'), ...result }),
  z.strictObject({ type: z.literal('op-started'), op }),
  z.strictObject({ type: z.literal('op-ended'), op, ...result }),
])

const entry = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('JournalEntry'),
  run: z.uuid(),
  time: z.iso.datetime(),
  what,
})
/** One line of what was done on a host: an op is told of before it begins, and again when it has ended. */
export type JournalEntry = z.infer<typeof entry>

export const journalEntryFormat: Format<JournalEntry> = {
  kind: 'JournalEntry',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: entry },
  older: [],
}
