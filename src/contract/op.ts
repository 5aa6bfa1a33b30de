import { z } from 'zod'
import { stage } from './stage.ts'

/** What on a host an op is about. */
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
 * One thing that is done on a host. It says what shall be so, not how to get there: whoever runs it looks first, so
 * that doing it twice does no harm.
 */
export const op = z.strictObject({
  component: z.string(),
  stage,
  action: z.enum(['create', 'change', 'remove', 'start', 'restart', 'stop']),
  target: opTarget,
  name: z.string(),
  /** What made it necessary, where that does not follow from the rest: the files for whose sake a service restarts. */
  because: z.array(z.string()),
})
export type Op = z.infer<typeof op>
