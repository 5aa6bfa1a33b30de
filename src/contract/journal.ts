import { z } from 'zod'
import { opSchema } from './op.ts'
import type { Format } from './versioned.ts'

const result = {
  outcome: z.enum(['done', 'unchanged', 'failed', 'interrupted']),
  failure: z.strictObject({ code: z.string(), message: z.string() }).optional(),
}

const entryBody = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('run-started'),
    command: z.string(),
    /** Digest of the plan that the run applies. */
    plan: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('run-ended'), ...result }),
  z.strictObject({ type: z.literal('op-started'), op: opSchema }),
  z.strictObject({ type: z.literal('op-ended'), op: opSchema, ...result }),
])

const entry = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('JournalEntry'),
  run: z.uuid(),
  time: z.iso.datetime(),
  body: entryBody,
})
/** One line of a host's journal. An entry is written before an op starts and after it ends. */
export type JournalEntry = z.infer<typeof entry>

export const journalEntryFormat: Format<JournalEntry> = {
  kind: 'JournalEntry',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: entry },
  older: [],
}
