import { flags, mergeArgs } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate, serverCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { memoryFloor } from '../memory-floors.ts'
import { isControlPlane, type LinuxScene } from '../context.ts'
import { ciphers } from '../tls-cipher-suites.ts'
import { etc, kubeconfigFile, programDirectory } from './paths.ts'
import { local } from './probes.ts'
import { confined, systemdService } from './unit.ts'

const name = 'kube-scheduler'
const user = 'system:kube-scheduler'
const directory = `${etc}/kube-scheduler`

export const kubeScheduler: Planner<LinuxScene> = (scene) => {
  if (!isControlPlane(scene)) return undefined
  const { cluster, identity, system } = scene
  const { api, components } = cluster.spec
  const program = download(scene, name, programDirectory, { kind: 'program', as: name })
  const kubeconfig = `${directory}/kubeconfig`
  const args = mergeArgs(
    {
      kubeconfig,
      'authentication-kubeconfig': kubeconfig,
      'authorization-kubeconfig': kubeconfig,
      'bind-address': '127.0.0.1',
      'tls-cert-file': `${directory}/server.crt`,
      'tls-private-key-file': `${directory}/server.key`,
      'tls-min-version': 'VersionTLS12',
      'tls-cipher-suites': ciphers.join(','),
      'client-ca-file': `${directory}/ca.crt`,
      profiling: 'false',
    },
    components.scheduler.args,
  )
  const own = { owner: name, authority: 'kubernetes' } as const
  return component({
    name,
    stage: 'controllers',
    version: program.version,
    needs: ['kube-apiserver'],
    users: [name],
    directories: [{ path: directory, owner: name, mode: '0700' }],
    artifacts: [program],
    files: [
      textFile(`${directory}/ca.crt`, identity.authorities.kubernetes, { owner: name, mode: '0644' }),
      // Only to the server beside it: it must never be newer than a server it speaks to.
      kubeconfigFile(scene, name, `https://127.0.0.1:${api.port}`, name),
    ],
    certificates: [
      clientCertificate(scene, { ...own, path: `${directory}/client`, commonName: user }),
      serverCertificate(
        scene,
        { ...own, path: `${directory}/server`, commonName: name },
        { dns: ['localhost'], ip: ['127.0.0.1'] },
      ),
    ],
    service: systemdService(
      {
        name,
        description: 'Kubernetes scheduler',
        after: ['kube-apiserver'],
        type: 'exec',
        user: name,
        command: [`${program.directory}/${name}`, ...flags(args)],
        memoryFloor: memoryFloor(name),
        settings: confined(),
      },
      system,
    ),
    probes: [
      local({
        name: 'healthz',
        check: { kind: 'http', url: 'https://127.0.0.1:10259/healthz', authority: `${directory}/ca.crt` },
      }),
    ],
  })
}
