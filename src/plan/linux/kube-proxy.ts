import type { Probe } from '../../contract/probe.ts'
import { proxyPort } from '../apiserver-proxy-config.ts'
import { flags, mergeArgs } from '../args.ts'
import { download } from '../download.ts'
import { clientCertificate } from '../certificate.ts'
import { component, type Planner } from '../component.ts'
import { textFile } from '../files.ts'
import { memoryFloor } from '../memory-floors.ts'
import { type JsonObject, mergeConfig } from '../merge-config.ts'
import { nodeOf } from '../node.ts'
import type { LinuxScene } from '../context.ts'
import { etc, kubeconfigFile, kubeconfigPath, programDirectory } from './paths.ts'
import { bestProxyMode } from './packet-filter.ts'
import { local } from './probes.ts'
import { systemdService } from './unit.ts'

const name = 'kube-proxy'
const user = 'system:kube-proxy'
const directory = `${etc}/kube-proxy`

export const kubeProxy: Planner<LinuxScene> = (scene) => {
  const node = nodeOf(scene)
  if (node === undefined) return undefined
  const { cluster, host, identity, system } = scene
  const program = download(scene, name, programDirectory, { kind: 'program', as: name })
  const args = mergeArgs(
    { config: `${directory}/config.yaml`, 'hostname-override': node.name },
    cluster.spec.components.kubeProxy.args,
    host.components?.kubeProxy?.args,
  )
  return component({
    name,
    stage: 'network',
    version: program.version,
    needs: ['apiserver-proxy'],
    directories: [{ path: directory, owner: 'root', mode: '0700' }],
    artifacts: [program],
    files: [
      textFile(`${directory}/ca.crt`, identity.authorities.kubernetes, { owner: 'root', mode: '0644' }),
      textFile(`${directory}/config.yaml`, scene.yaml(configuration(scene)), { owner: 'root' }),
      kubeconfigFile(scene, name, `https://127.0.0.1:${proxyPort}`, 'root'),
    ],
    certificates: [
      clientCertificate(scene, {
        path: `${directory}/client`,
        owner: 'root',
        authority: 'kubernetes',
        commonName: user,
      }),
    ],
    service: systemdService(
      {
        name,
        description: 'kube-proxy, which makes the addresses of services work',
        after: ['apiserver-proxy'],
        type: 'exec',
        command: [`${program.directory}/${name}`, ...flags(args)],
        memoryFloor: memoryFloor(name),
      },
      system,
    ),
    probes: [
      local({ name: 'livez', check: { kind: 'http', url: 'http://127.0.0.1:10256/livez' } }),
      ...ruleProbes(configuration(scene)['mode']),
    ],
  })
}

/** Started anew it writes all rules anew; by itself, what others took away only after an hour. */
function ruleProbes(mode: unknown): readonly Probe[] {
  if (mode !== 'nftables' && mode !== 'iptables') return []
  return [
    local({
      name: 'service-rules',
      check: { kind: 'service-rules', mode, kubeconfig: kubeconfigPath(name) },
      every: 15_000,
      timeout: 15_000,
      failures: 2,
    }),
  ]
}

function configuration({ cluster, host, system }: LinuxScene): JsonObject {
  const { components, network } = cluster.spec
  const [pods = ''] = network.pods
  const ours: JsonObject = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: components.kubeProxy.mode === 'auto' ? bestProxyMode(system) : components.kubeProxy.mode,
    clusterCIDR: pods,
    clientConnection: { kubeconfig: `${directory}/kubeconfig` },
    metricsBindAddress: '127.0.0.1:10249',
    healthzBindAddress: '0.0.0.0:10256',
    // The limit belongs to the machine around a container, and kube-proxy would give up over it.
    ...(system.container ? { conntrack: { maxPerCore: 0 } } : {}),
  }
  return mergeConfig(ours, components.kubeProxy.config, host.components?.kubeProxy?.config)
}
