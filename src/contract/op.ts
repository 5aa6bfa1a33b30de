import { z } from 'zod'
import { stageSchema } from './component-plan.ts'
import type { Format } from './versioned.ts'

/** Kind of resource that an op changes. */
export const opTarget = z.enum([
  'user',
  'module',
  'sysctl',
  'firewall-rule',
  'directory',
  'artifact',
  'image',
  'file',
  'derived-file',
  'certificate',
  'predecessor',
  'service',
])
export type OpTarget = z.infer<typeof opTarget>

/**
 * One change on a host. An op names the desired result, and the agent checks the current state first, so ops
 * are idempotent.
 */
export const opSchema = z.strictObject({
  component: z.string(),
  stage: stageSchema,
  action: z.enum(['create', 'change', 'remove', 'start', 'restart', 'stop']),
  target: opTarget,
  name: z.string(),
  /**
   * Causes of the op that its other fields do not show, for example the files that make a service restart
   * necessary.
   */
  because: z.array(z.string()),
})
export type Op = z.infer<typeof opSchema>

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
