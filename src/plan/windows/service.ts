import type { Runner, ScmServiceSpec } from '../../contract/service.ts'

export interface ScmServiceOptions {
  readonly name: string
  readonly description: string
  readonly program: string
  readonly arguments: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** True if the program implements the Windows service protocol. */
  readonly native: boolean
  /** Program that starts the service, if the service manager does not start it directly. */
  readonly runner?: Runner
  /**
   * Services that this service cannot run without. When the service manager stops one of them, it also stops
   * this service, so weaker dependencies must not be listed.
   */
  readonly dependsOn?: readonly string[]
}

/** Builds a service that Windows always restarts, so that it recovers without an operator. */
export function buildScmService(options: ScmServiceOptions): ScmServiceSpec {
  const { name, description, program, native, runner, environment = {}, dependsOn = [] } = options
  return {
    supervisor: 'scm',
    name,
    description,
    program,
    arguments: [...options.arguments],
    environment: { ...environment },
    native,
    ...(runner === undefined ? {} : { runner }),
    dependsOn: [...dependsOn],
    restartAfter: [2000, 5000, 15_000],
  }
}
