import { win32 } from 'node:path'
import { component, type Planner } from '../component.ts'
import type { WindowsScene } from '../context.ts'
import { agentSetup } from './agent-setup.ts'
import { closedDirectory, placesOf, programDirectory } from './paths.ts'

const name = 'hyperkube-agent'

export const hyperkubeAgent: Planner<WindowsScene> = (scene) => {
  const { version } = scene
  const { state } = placesOf(scene)
  const directory = programDirectory(scene)('hyperkube', version)
  const { artifact, service } = agentSetup(scene, version)
  return component({
    name,
    stage: 'prepare',
    version,
    directories: [closedDirectory(win32.join(state, 'agent'))],
    artifacts: [{ from: 'this-release', name: 'hyperkube', version, directory }, artifact],
    service,
  })
}
