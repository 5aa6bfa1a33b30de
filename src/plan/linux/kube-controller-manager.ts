import { flags, mergeArgs } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate, serverCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { secretFile, textFile } from '../files.ts'
import { memoryFloor } from '../memory-floors.ts'
import { isControlPlane, type LinuxScene } from '../context.ts'
import { ciphers } from '../tls-cipher-suites.ts'
import { etc, kubeconfigFile, programDirectory } from './paths.ts'
import { local } from './probes.ts'
import { confined, systemdService } from './unit.ts'

const name = 'kube-controller-manager'
const user = 'system:kube-controller-manager'
const directory = `${etc}/kube-controller-manager`

export const kubeControllerManager: Planner<LinuxScene> = (scene) => {
  if (!isControlPlane(scene)) return undefined
  const { cluster, identity, system } = scene
  const { network, api, cloudProvider, components } = cluster.spec
  const [pods = '', services = ''] = [network.pods[0], network.services[0]]
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
      'allocate-node-cidrs': 'true',
      'cluster-name': cluster.metadata.name,
      'cluster-cidr': pods,
      'node-cidr-mask-size': String(network.nodePrefix),
      'service-cluster-ip-range': services,
      'cluster-signing-cert-file': `${directory}/signer.crt`,
      'cluster-signing-key-file': `${directory}/ca.key`,
      'root-ca-file': `${directory}/ca.crt`,
      'service-account-private-key-file': `${directory}/service-account.key`,
      'use-service-account-credentials': 'true',
      ...(cloudProvider === 'external' ? { 'cloud-provider': 'external' } : {}),
      profiling: 'false',
    },
    components.controllerManager.args,
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
      // It signs with one, whomever it trusts.
      textFile(`${directory}/signer.crt`, identity.kubernetesSigner, { owner: name, mode: '0644' }),
      secretFile(`${directory}/ca.key`, 'kubernetes-authority-key', identity, own),
      secretFile(`${directory}/service-account.key`, 'service-account-key', identity, own),
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
        description: 'Kubernetes controller manager',
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
        check: { kind: 'http', url: 'https://127.0.0.1:10257/healthz', authority: `${directory}/ca.crt` },
      }),
    ],
  })
}
