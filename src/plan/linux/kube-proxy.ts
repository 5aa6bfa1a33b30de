import type { Probe } from '../../contract/probe.ts'
import { apiserverProxyPort } from '../apiserver-proxy-config.ts'
import { toFlags, mergeArgs } from '../args.ts'
import { planDownload } from '../download.ts'
import { planClientCertificate } from '../certificate.ts'
import { buildComponentPlan, type ComponentPlanner } from '../component.ts'
import { planTextFile } from '../files.ts'
import { formatMemoryFloor } from '../memory-floors.ts'
import { type JsonObject, mergeConfig } from '../merge-config.ts'
import { planNode } from '../node.ts'
import type { LinuxPlanContext } from '../context.ts'
import { configRoot, planLinuxKubeconfig, linuxKubeconfigPath, linuxProgramDirectory } from './paths.ts'
import { selectProxyMode } from './packet-filter.ts'
import { planLocalProbe } from './probes.ts'
import { buildSystemdService } from './unit.ts'

const name = 'kube-proxy'
const user = 'system:kube-proxy'
const directory = `${configRoot}/kube-proxy`

export const planLinuxKubeProxy: ComponentPlanner<LinuxPlanContext> = (context) => {
  const node = planNode(context)
  if (node === undefined) return undefined
  const { cluster, host, identity, system } = context
  const program = planDownload(context, name, linuxProgramDirectory, { kind: 'program', as: name })
  const args = mergeArgs(
    { config: `${directory}/config.yaml`, 'hostname-override': node.name },
    cluster.spec.components.kubeProxy.args,
    host.components?.kubeProxy?.args,
  )
  return buildComponentPlan({
    name,
    stage: 'network',
    version: program.version,
    needs: ['apiserver-proxy'],
    directories: [{ path: directory, owner: 'root', mode: '0700' }],
    artifacts: [program],
    files: [
      planTextFile(`${directory}/ca.crt`, identity.cas.kubernetes, { owner: 'root', mode: '0644' }),
      planTextFile(`${directory}/config.yaml`, context.yaml(buildConfiguration(context)), { owner: 'root' }),
      planLinuxKubeconfig(context, name, `https://127.0.0.1:${apiserverProxyPort}`, 'root'),
    ],
    certificates: [
      planClientCertificate(context, {
        path: `${directory}/client`,
        owner: 'root',
        ca: 'kubernetes',
        commonName: user,
      }),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'kube-proxy, which makes the addresses of services work',
        after: ['apiserver-proxy'],
        type: 'exec',
        command: [`${program.directory}/${name}`, ...toFlags(args)],
        memoryFloor: formatMemoryFloor(name),
      },
      system,
    ),
    probes: [
      planLocalProbe({ name: 'livez', check: { kind: 'http', url: 'http://127.0.0.1:10256/livez' } }),
      ...buildRuleProbes(buildConfiguration(context)['mode']),
    ],
  })
}

/**
 * Probes the service rules. A restart of kube-proxy writes them again; without one, deleted rules are
 * restored only after an hour.
 */
function buildRuleProbes(mode: unknown): readonly Probe[] {
  if (mode !== 'nftables' && mode !== 'iptables') return []
  return [
    planLocalProbe({
      name: 'service-rules',
      check: { kind: 'service-rules', mode, kubeconfig: linuxKubeconfigPath(name) },
      intervalMs: 15_000,
      timeoutMs: 15_000,
      failureThreshold: 2,
    }),
  ]
}

function buildConfiguration({ cluster, host, system }: LinuxPlanContext): JsonObject {
  const { components, network } = cluster.spec
  const [pods = ''] = network.pods
  const defaults: JsonObject = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: components.kubeProxy.mode === 'auto' ? selectProxyMode(system) : components.kubeProxy.mode,
    clusterCIDR: pods,
    clientConnection: { kubeconfig: `${directory}/kubeconfig` },
    metricsBindAddress: '127.0.0.1:10249',
    healthzBindAddress: '0.0.0.0:10256',
    // In a container the conntrack limit belongs to the outer machine, and kube-proxy would exit when it
    // tries to set it.
    ...(system.container ? { conntrack: { maxPerCore: 0 } } : {}),
  }
  return mergeConfig(defaults, components.kubeProxy.config, host.components?.kubeProxy?.config)
}
