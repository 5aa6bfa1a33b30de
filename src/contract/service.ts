import { z } from 'zod'

const systemd = z.strictObject({
  supervisor: z.literal('systemd'),
  /** As systemctl knows it, with its suffix. */
  name: z.string().regex(/^[a-z][a-z0-9-]*\.service$/),
  unit: z.string(),
})

/** Service Control Manager. A program that does not know how to be a service runs under a wrapper. */
const scm = z.strictObject({
  supervisor: z.literal('scm'),
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  description: z.string(),
  program: z.string(),
  arguments: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
  native: z.boolean(),
  dependsOn: z.array(z.string()),
  /** Milliseconds before the first, the second and every further restart. */
  restartAfter: z.array(z.int().min(0)).length(3),
})

/** What a supervisor keeps running for a component. */
export const service = z.discriminatedUnion('supervisor', [systemd, scm])
export type Service = z.infer<typeof service>
