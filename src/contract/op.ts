import { z } from 'zod'
import { stageSchema } from './stage.ts'

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
