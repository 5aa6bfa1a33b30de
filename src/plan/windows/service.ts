import type { Runner, ScmService } from '../../contract/service.ts'

export interface ServiceWish {
  readonly name: string
  readonly description: string
  readonly program: string
  readonly arguments: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Whether the program knows how to be a service. */
  readonly native: boolean
  /** What starts it, unless the manager itself does. */
  readonly runner?: Runner
  /**
   * Services without which it cannot be. None that it could wait for: the manager stops a service together with the one
   * that it depends on.
   */
  readonly dependsOn?: readonly string[]
}

/** A service that is started again for ever: giving up is for people, who are asleep. */
export function scmService(wish: ServiceWish): ScmService {
  const { name, description, program, native, runner, environment = {}, dependsOn = [] } = wish
  return {
    supervisor: 'scm',
    name,
    description,
    program,
    arguments: [...wish.arguments],
    environment: { ...environment },
    native,
    ...(runner === undefined ? {} : { runner }),
    dependsOn: [...dependsOn],
    restartAfter: [2000, 5000, 15_000],
  }
}
