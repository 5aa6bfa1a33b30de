import { win32 } from 'node:path'
import { component, type Planner } from '../component.ts'
import type { WindowsScene } from '../scene.ts'
import { closedDirectory, placesOf, programDirectory } from './paths.ts'
import { serviceWrapper } from './runner.ts'
import { scmService } from './service.ts'

const name = 'hyperkube-agent'

export const hyperkubeAgent: Planner<WindowsScene> = (scene) => {
  const { version } = scene
  const { base, state } = placesOf(scene)
  const directory = programDirectory(scene)('hyperkube', version)
  const { artifact, runner } = serviceWrapper(scene, name)
  return component({
    name,
    stage: 'prepare',
    version,
    directories: [closedDirectory(win32.join(state, 'agent'))],
    artifacts: [{ from: 'this-release', name: 'hyperkube', version, directory }, artifact],
    service: scmService({
      name,
      description: 'hyperkube, which keeps this host as it was planned',
      program: win32.join(directory, 'hyperkube.exe'),
      // It must find what it knows of the host before it has read a plan.
      arguments: ['agent', `--base-directory=${base}`],
      native: false,
      runner,
    }),
  })
}
