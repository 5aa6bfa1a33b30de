import { component, type Planner } from '../component.ts'
import { secretFile, textFile } from '../files.ts'
import { memoryFloor } from '../memory-floors.ts'
import { isControlPlane, type LinuxScene } from '../scene.ts'
import { etc, programDirectory, state } from './paths.ts'
import { systemdService } from './unit.ts'

const name = 'hyperkube-agent'
const directory = `${etc}/agent`
const root = { owner: 'root' }

export const hyperkubeAgent: Planner<LinuxScene> = (scene) => {
  const { identity, system, version } = scene
  const program = programDirectory('hyperkube', version)
  const authorities = [
    ['kubernetes', identity.authorities.kubernetes],
    ['etcd', identity.authorities.etcd],
    ['front-proxy', identity.authorities.frontProxy],
  ] as const
  return component({
    name,
    stage: 'prepare',
    version,
    directories: [
      { path: directory, owner: 'root', mode: '0700' },
      { path: `${state}/agent`, owner: 'root', mode: '0700' },
    ],
    artifacts: [{ from: 'this-release', name: 'hyperkube', version, directory: program }],
    // Control planes renew certificates while no operator is near.
    files: isControlPlane(scene)
      ? authorities.flatMap(([authority, certificate]) => [
          textFile(`${directory}/${authority}-ca.crt`, certificate, {
            ...root,
            mode: '0644',
            restart: false,
          }),
          secretFile(`${directory}/${authority}-ca.key`, `${authority}-authority-key`, identity, {
            ...root,
            restart: false,
          }),
        ])
      : [],
    service: systemdService(
      {
        name,
        description: 'hyperkube, which keeps this host as it was planned',
        type: 'exec',
        command: [`${program}/hyperkube`, 'agent'],
        memoryFloor: memoryFloor(name),
        // What it started must outlive it.
        settings: [['KillMode', 'process']],
      },
      system,
    ),
    probes: [],
  })
}
