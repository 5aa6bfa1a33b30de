import { proxyPort } from '../apiserver-proxy-config.ts'
import { flags } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate, serverCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { kubeletArgs, kubeletConfiguration } from '../kubelet-settings.ts'
import { memoryFloor } from '../memory-floors.ts'
import type { JsonObject } from '../merge-config.ts'
import { alternativeNames } from '../alternative-names.ts'
import { nodeOf } from '../node.ts'
import { isNode, type LinuxScene } from '../context.ts'
import { containerdSocket, etc, kubeconfigFile, kubeconfigPath, programDirectory } from './paths.ts'
import { diskSpace, local, remote } from './probes.ts'
import { systemdService } from './unit.ts'

const name = 'kubelet'
const directory = `${etc}/kubelet`
const data = '/var/lib/kubelet'
const root = { owner: 'root' }
const files = {
  config: `${directory}/config.yaml`,
  kubeconfig: `${directory}/kubeconfig`,
  authority: `${directory}/ca.crt`,
  certificate: `${directory}/server.crt`,
  privateKey: `${directory}/server.key`,
}

export const kubelet: Planner<LinuxScene> = (scene) => {
  const node = nodeOf(scene)
  if (!isNode(scene) || node === undefined) return undefined
  const { identity, system, address } = scene
  const program = download(scene, name, programDirectory, { kind: 'program', as: name })
  const user = `system:node:${node.name}`
  const own = { owner: 'root', authority: 'kubernetes', commonName: user } as const
  return component({
    name,
    stage: 'node',
    version: program.version,
    needs: ['containerd', 'apiserver-proxy'],
    directories: [
      { path: directory, owner: 'root', mode: '0700' },
      { path: data, owner: 'root', mode: '0750' },
    ],
    artifacts: [program],
    files: [
      textFile(files.authority, identity.authorities.kubernetes, { ...root, mode: '0644' }),
      textFile(files.config, scene.yaml(kubeletConfiguration(scene, files, settings(scene))), root),
      kubeconfigFile(scene, name, `https://127.0.0.1:${proxyPort}`, 'root'),
    ],
    certificates: [
      clientCertificate(scene, { ...own, path: `${directory}/client`, organizations: ['system:nodes'] }),
      serverCertificate(
        scene,
        { ...own, path: `${directory}/server`, organizations: ['system:nodes'] },
        alternativeNames(node.name, address),
      ),
    ],
    service: systemdService(
      {
        name,
        description: 'kubelet, which runs pods',
        after: ['containerd', 'apiserver-proxy'],
        type: 'notify',
        command: [`${program.directory}/${name}`, ...flags(kubeletArgs(scene, files, {}))],
        memoryFloor: memoryFloor(name),
        // Programs that it starts to mount volumes must outlive it.
        settings: [
          ['KillMode', 'process'],
          ['Delegate', 'yes'],
        ],
      },
      system,
    ),
    probes: [
      local({ name: 'healthz', check: { kind: 'http', url: 'http://127.0.0.1:10248/healthz' } }),
      remote({
        name: 'node-lease',
        // It is renewed every ten seconds, and after forty the node counts as gone.
        check: { kind: 'node-lease', node: node.name, kubeconfig: files.kubeconfig, within: 60_000 },
        every: 30_000,
        failures: 2,
      }),
      remote({
        name: 'neighbours',
        // A kubelet may not see other nodes; kube-proxy may.
        check: { kind: 'neighbours', node: node.name, kubeconfig: kubeconfigPath('kube-proxy'), count: 3 },
        // Kubelets write a line about everybody who only knocks.
        every: 60_000,
        failures: 2,
      }),
      diskSpace(data),
    ],
  })
}

function settings({ system }: LinuxScene): JsonObject {
  return {
    containerRuntimeEndpoint: `unix://${containerdSocket}`,
    // Version 1 has no driver that all of its hosts bear.
    cgroupDriver: system.cgroup.version === 2 ? 'systemd' : 'cgroupfs',
    ...(system.cgroup.version === 1 ? { failCgroupV1: false } : {}),
    enforceNodeAllocatable: ['pods'],
    // Pods get no swap either way; refusing to start would only help who is awake to see it.
    failSwapOn: false,
    ...(system.swap ? { memorySwap: { swapBehavior: 'NoSwap' } } : {}),
    resolvConf: system.resolver.file,
    podPidsLimit: 4096,
    seccompDefault: true,
    protectKernelDefaults: !system.container,
  }
}
