import { z } from 'zod'

const systemd = z.strictObject({
  supervisor: z.literal('systemd'),
  /** As systemctl knows it, with its suffix. */
  name: z.string().regex(/^[a-z][a-z0-9-]*\.service$/),
  unit: z.string(),
})

/** Service Control Manager. */
export const scm = z.strictObject({
  supervisor: z.literal('scm'),
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  description: z.string(),
  program: z.string(),
  arguments: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
  /** Whether the program knows by itself how to be a service. */
  native: z.boolean(),
  /** What starts the program and keeps its log; of one that is no service by itself it also takes the place. */
  runner: z.strictObject({ program: z.string(), arguments: z.array(z.string()) }).optional(),
  dependsOn: z.array(z.string()),
  /** Milliseconds before the first, the second and every further restart. */
  restartAfter: z.array(z.int().min(0)).length(3),
})

/** What a supervisor keeps running for a component. */
export const service = z.discriminatedUnion('supervisor', [systemd, scm])
export type Service = z.infer<typeof service>
export type ScmService = z.infer<typeof scm>
export type Runner = NonNullable<ScmService['runner']>

/** What the manager of services is told to run: the runner, which is told the program, or the program itself. */
export function commandOf({ program, arguments: args, runner }: ScmService): Runner {
  if (runner === undefined) return { program, arguments: args }
  return { program: runner.program, arguments: [...runner.arguments, program, ...args] }
}
