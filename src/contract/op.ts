import { z } from 'zod'
import { stageSchema } from './stage.ts'

/** The kind of resource that an op changes. */
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
  'service',
])
export type OpTarget = z.infer<typeof opTarget>

/**
 * One change on a host. It states the desired result, not the way there: the agent checks first, so that an
 * op is idempotent.
 */
export const opSchema = z.strictObject({
  component: z.string(),
  stage: stageSchema,
  action: z.enum(['create', 'change', 'remove', 'start', 'restart', 'stop']),
  target: opTarget,
  name: z.string(),
  /** Reasons that do not follow from the rest: the files that cause a service to restart. */
  because: z.array(z.string()),
})
export type Op = z.infer<typeof opSchema>
