import { formatKubeProxyUser, kubeProxyGroup } from '../../contract/node-users.ts'
import type { Probe } from '../../contract/probe.ts'
import { isDualStack, usesKubeProxy } from '../../spec/network.ts'
import { apiserverProxyPort } from '../apiserver-proxy-config.ts'
import { type JsonObject, mergeArgs, mergeConfig, toFlags } from '../args.ts'
import { planClientCertificate } from '../certificate.ts'
import {
  buildComponentPlan,
  type ComponentPlanner,
  type LinuxPlanContext,
  type LinuxSystemFacts,
} from '../context.ts'
import { planDownload, planTextFile } from '../files.ts'
import { planNode } from '../node.ts'
import { formatMemoryFloor } from '../reserved-resources.ts'
import { configRoot, linuxKubeconfigPath, linuxProgramDirectory, planLinuxKubeconfig } from './paths.ts'
import { planLocalProbe } from './probe-defaults.ts'
import { buildSystemdService } from './unit.ts'

const name = 'kube-proxy'
const directory = `${configRoot}/kube-proxy`

export const planLinuxKubeProxy: ComponentPlanner<LinuxPlanContext> = (context) => {
  const node = planNode(context)
  if (node === undefined || !usesKubeProxy(context.cluster.spec.network)) return undefined
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
        commonName: formatKubeProxyUser(node.name),
        organizations: [kubeProxyGroup],
      }),
    ],
    service: buildSystemdService(
      {
        name,
        description: 'kube-proxy Service load balancing',
        after: ['apiserver-proxy'],
        type: 'exec',
        command: [`${program.directory}/${name}`, ...toFlags(args)],
        memoryFloor: formatMemoryFloor(name),
      },
      system,
    ),
    probes: [
      planLocalProbe({ name: 'livez', check: { kind: 'http', url: 'http://127.0.0.1:10256/livez' } }),
      ...buildRuleProbes(buildConfiguration(context)['mode'], isDualStack(cluster.spec.network)),
    ],
  })
}

/**
 * Builds the probe of the service rules. If rules were deleted, the probe fails and healing restarts
 * kube-proxy. After a restart kube-proxy writes the rules at once, otherwise only after up to an hour.
 */
function buildRuleProbes(mode: unknown, ipv6: boolean): readonly Probe[] {
  if (mode !== 'nftables' && mode !== 'iptables') return []
  return [
    planLocalProbe({
      name: 'service-rules',
      check: {
        kind: 'service-rules',
        mode,
        kubeconfig: linuxKubeconfigPath(name),
        ...(ipv6 ? { ipv6 } : {}),
      },
      intervalMs: 15_000,
      timeoutMs: 15_000,
      failureThreshold: 2,
    }),
  ]
}

function buildConfiguration({ cluster, host, system }: LinuxPlanContext): JsonObject {
  const { components, network } = cluster.spec
  const defaults: JsonObject = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: components.kubeProxy.mode === 'auto' ? selectProxyMode(system) : components.kubeProxy.mode,
    clusterCIDR: network.pods.join(','),
    clientConnection: { kubeconfig: `${directory}/kubeconfig` },
    metricsBindAddress: '127.0.0.1:10249',
    healthzBindAddress: '0.0.0.0:10256',
    // If the host is a container, the conntrack limit belongs to the machine that runs the container.
    // kube-proxy would exit when it tries to set this limit.
    ...(system.container ? { conntrack: { maxPerCore: 0 } } : {}),
  }
  return mergeConfig(defaults, components.kubeProxy.config, host.components?.kubeProxy?.config)
}

/** Selects the mode of kube-proxy for `mode: auto`. */
export function selectProxyMode(system: LinuxSystemFacts): 'nftables' | 'iptables' {
  return hasNftables(system) && !isOldForNftables(system) ? 'nftables' : 'iptables'
}

/** First kernel version on which kube-proxy accepts nftables. */
export const firstNftablesKernel = '5.13'

export function hasNftables({ kernel, programs }: LinuxSystemFacts): boolean {
  return kernel.nftables && programs.includes('nft')
}

export function hasIptables({ kernel, programs }: LinuxSystemFacts): boolean {
  return kernel.iptables && programs.includes('iptables')
}

export function isOldForNftables({ kernel }: LinuxSystemFacts): boolean {
  const [major = 0, minor = 0] = kernel.release.split(/[^\d]/).map(Number)
  const [firstMajor = 0, firstMinor = 0] = firstNftablesKernel.split('.').map(Number)
  return major < firstMajor || (major === firstMajor && minor < firstMinor)
}
