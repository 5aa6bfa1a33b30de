import { win32 } from 'node:path'
import type { PlannedArtifact } from '../../contract/component-plan.ts'
import type { ScmService } from '../../contract/service.ts'
import { placesOf, programDirectory } from './paths.ts'
import { type RunnerScene, serviceWrapper } from './runner.ts'
import { scmService } from './service.ts'

/** The service that an agent is, and what starts it: known before anything is known of the host. */
export interface AgentSetup {
  readonly artifact: PlannedArtifact
  readonly service: ScmService
}

const name = 'hyperkube-agent'

export function agentSetup(scene: RunnerScene, version: string): AgentSetup {
  const { base } = placesOf(scene)
  const { artifact, runner } = serviceWrapper(scene, name)
  const service = scmService({
    name,
    description: 'hyperkube, which keeps this host as it was planned',
    program: ownProgram(scene, version),
    // It must find what it knows of the host before it has read a plan.
    arguments: ['agent', `--base-directory=${base}`],
    native: false,
    runner,
  })
  return { artifact, service }
}

/** Goes back to the former agent after a while, by the former program: the new one may be what is broken. */
export function revertService(scene: RunnerScene, former: string, after: number): ScmService {
  const own = 'hyperkube-revert'
  return scmService({
    name: own,
    description: 'back to the former agent of hyperkube, as the new one did not answer',
    program: ownProgram(scene, former),
    arguments: ['agent-revert', `--base-directory=${placesOf(scene).base}`, `--after=${after}`],
    native: false,
    runner: serviceWrapper(scene, own).runner,
  })
}

function ownProgram(scene: RunnerScene, version: string): string {
  return win32.join(programDirectory(scene)('hyperkube', version), 'hyperkube.exe')
}
