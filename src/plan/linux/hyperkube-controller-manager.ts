import { managerUser } from '../../contract/manager-settings.ts'
import { clientCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { managerPort, managerSettings } from '../manager-settings.ts'
import { memoryFloor } from '../memory-floors.ts'
import { isManager, type LinuxScene } from '../context.ts'
import { etc, kubeconfigFile, ownProgram } from './paths.ts'
import { local } from './probes.ts'
import { confined, systemdService, thrifty } from './unit.ts'

const name = 'hyperkube-controller-manager'
const directory = `${etc}/hyperkube-controller-manager`

export const hyperkubeControllerManager: Planner<LinuxScene> = (scene) => {
  const { cluster, identity, system, version } = scene
  const { api, manager } = cluster.spec
  if (!isManager(scene) || manager === 'none') return undefined
  return component({
    name,
    stage: 'controllers',
    version,
    needs: ['kube-apiserver'],
    users: [name],
    directories: [{ path: directory, owner: name, mode: '0700' }],
    files: [
      // It is read again by itself, as the certificate is.
      textFile(`${directory}/ca.crt`, identity.authorities.kubernetes, {
        owner: name,
        mode: '0644',
        restart: false,
      }),
      // Only to the server beside it: where that one is away, a manager beside another one leads.
      kubeconfigFile(scene, name, `https://127.0.0.1:${api.port}`, name),
      textFile(`${directory}/settings.json`, managerSettings(scene), { owner: name }),
    ],
    certificates: [
      clientCertificate(scene, {
        path: `${directory}/client`,
        owner: name,
        authority: 'kubernetes',
        commonName: managerUser,
      }),
    ],
    service: systemdService(
      {
        name,
        description: 'controllers of hyperkube, which look after the cluster',
        after: ['kube-apiserver'],
        type: 'exec',
        user: name,
        command: [
          ownProgram,
          'controller-manager',
          `--kubeconfig=${directory}/kubeconfig`,
          `--settings=${directory}/settings.json`,
          `--controllers=${manager.controllers.join(',')}`,
          `--listen=127.0.0.1:${managerPort}`,
        ],
        memoryFloor: memoryFloor(name),
        // Its rights are those that its release needs, so it starts anew with another one. systemd passes over what begins so.
        settings: [...confined(), thrifty, ['X-Hyperkube-Release', version]],
      },
      system,
    ),
    probes: [local({ name: 'livez', check: { kind: 'http', url: `http://127.0.0.1:${managerPort}/livez` } })],
  })
}
