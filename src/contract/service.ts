import { z } from 'zod'

const systemd = z.strictObject({
  supervisor: z.literal('systemd'),
  /** Unit name with its suffix, for example kubelet.service. */
  name: z.string().regex(/^[a-z][a-z0-9-]*\.service$/),
  unit: z.string(),
})

/** A service of the Windows Service Control Manager (SCM). */
export const scm = z.strictObject({
  supervisor: z.literal('scm'),
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  description: z.string(),
  program: z.string(),
  arguments: z.array(z.string()),
  environment: z.record(z.string(), z.string()),
  /** True if the program implements the Windows service protocol itself. */
  native: z.boolean(),
  /**
   * Wrapper that starts the program and writes its log. It also implements the service protocol for programs
   * that are not native.
   */
  runner: z.strictObject({ program: z.string(), arguments: z.array(z.string()) }).optional(),
  dependsOn: z.array(z.string()),
  /** Milliseconds to wait before the first, the second and each further restart. */
  restartAfter: z.array(z.int().min(0)).length(3),
})

/** The service of a component that a supervisor keeps running. */
export const serviceSchema = z.discriminatedUnion('supervisor', [systemd, scm])
export type ServiceSpec = z.infer<typeof serviceSchema>
export type ScmServiceSpec = z.infer<typeof scm>
export type Runner = NonNullable<ScmServiceSpec['runner']>

/**
 * Returns the command for the Service Control Manager: the runner with the program as its argument, or the
 * program itself if there is no runner.
 */
export function buildServiceCommand({ program, arguments: args, runner }: ScmServiceSpec): Runner {
  if (runner === undefined) return { program, arguments: args }
  return { program: runner.program, arguments: [...runner.arguments, program, ...args] }
}
