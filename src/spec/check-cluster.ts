import { z } from 'zod'
import { addonRules } from './check-addons.ts'
import { type Cluster, etcdHosts } from './cluster.ts'
import { checkProxy, checkSkippedVerification } from './check-download-route.ts'
import { loadBalancerRules } from './check-load-balancer.ts'
import { networkRules } from './check-networks.ts'
import { checkProfile } from './check-profile.ts'
import { checkVirtualIp } from './check-virtual-ip.ts'
import { usesKubeProxy } from './network.ts'
import { checkOidc } from './oidc.ts'
import { type ClusterRule, problem, type Problem, warningProblem } from './problem.ts'
import { checkWeakening } from './weakening/check-weakening.ts'

export type { Problem, ClusterRule } from './problem.ts'

const rules: readonly ClusterRule[] = [
  uniqueHosts,
  controlPlanes,
  etcdMembers,
  windowsHosts,
  localHost,
  hostAddresses,
  ...networkRules,
  nodePorts,
  networkPolicy,
  kubeProxy,
  checkVirtualIp,
  checkProxy,
  checkSkippedVerification,
  checkWeakening,
  checkOidc,
  checkProfile,
  ...addonRules,
  ...loadBalancerRules,
]

/**
 * Checks a cluster with the rules of this file and with `extraRules`, which may use data from outside
 * cluster.yml.
 */
export function checkCluster(cluster: Cluster, extraRules: readonly ClusterRule[]): readonly Problem[] {
  return [...rules, ...extraRules].flatMap((rule) => rule(cluster))
}

function uniqueHosts({ spec }: Cluster): Problem[] {
  const fields: Readonly<Record<string, readonly (string | undefined)[]>> = {
    name: spec.hosts.map(({ name }) => name),
    address: spec.hosts.map(({ address, local }) => (local ? undefined : address)),
    internalAddress: spec.hosts.map(({ internalAddress }) => internalAddress),
    internalAddressIPv6: spec.hosts.map(({ internalAddressIPv6 }) => internalAddressIPv6),
    nodeName: spec.hosts.map(({ nodeName }) => nodeName),
  }
  return Object.entries(fields).flatMap(([field, values]) => {
    const firsts = new Map(values.map((value, index) => [value, index] as const).toReversed())
    return values.flatMap((value, index) => {
      const first = firsts.get(value)
      if (value === undefined || first === index) return []
      const path = ['spec', 'hosts', index, field]
      return [problem('SPEC_HOST_DUPLICATE', path, `${value} is also the ${field} of hosts[${first}]`)]
    })
  })
}

function controlPlanes({ spec }: Cluster): Problem[] {
  if (spec.hosts.some(({ roles }) => roles.includes('control-plane'))) return []
  const path = ['spec', 'hosts']
  return [
    problem('SPEC_NO_CONTROL_PLANE', path, 'no host has the role control-plane', 'roles: [control-plane]'),
  ]
}

function etcdMembers(cluster: Cluster): Problem[] {
  const count = etcdHosts(cluster).length
  const path = ['spec', 'hosts']
  if (count > 7)
    return [problem('SPEC_ETCD_TOO_MANY', path, `${count} etcd members are too many: the maximum is 7`)]
  if (count > 0 && count % 2 === 0) {
    const message = `${count} etcd members tolerate no more failures than ${count - 1}`
    return [warningProblem('SPEC_ETCD_EVEN', path, message, 'use 1, 3 or 5')]
  }
  return []
}

function windowsHosts({ spec }: Cluster): Problem[] {
  const windows = spec.hosts.flatMap((host, index) => (host.os === 'windows' ? [{ host, index }] : []))
  if (windows.length === 0) return []
  const { plugin, flannel } = spec.network
  const roles = windows
    .filter(({ host }) => host.roles.some((role) => role !== 'worker'))
    .map(({ index }) =>
      problem('SPEC_WINDOWS_ROLE', ['spec', 'hosts', index, 'roles'], 'a Windows host can only be a worker'),
    )
  if (plugin === 'none') {
    const unnamed = usesKubeProxy(spec.network)
      ? windows.filter(({ host }) => !namesHnsNetwork(spec, host)).map(({ index }) => noHnsNetwork(index))
      : []
    return [...roles, ...unnamed]
  }
  const fits = flannel.backend === 'vxlan' && flannel.vni === 4096 && flannel.port === 4789
  const message = 'with Windows hosts flannel must use backend vxlan, VNI 4096 and port 4789'
  return fits ? roles : [...roles, problem('SPEC_WINDOWS_NETWORK', ['spec', 'network', 'flannel'], message)]
}

const hnsSettings = z.looseObject({ winkernel: z.looseObject({ networkName: z.string().min(1) }) })

/** True if kube-proxy of a Windows host gets the name of the HNS network, without which it exits. */
function namesHnsNetwork({ components }: Cluster['spec'], host: Cluster['spec']['hosts'][number]): boolean {
  return [components.kubeProxy.config, host.components?.kubeProxy?.config].some(
    (config) => hnsSettings.safeParse(config).success,
  )
}

function noHnsNetwork(index: number): Problem {
  return warningProblem(
    'SPEC_WINDOWS_KUBE_PROXY',
    ['spec', 'hosts', index],
    'kube-proxy of Windows exits without the name of the HNS network, which only its pod network knows',
    'components: { kubeProxy: { config: { winkernel: { networkName: NAME, sourceVip: ADDRESS } } } }',
  )
}

function localHost({ spec }: Cluster): Problem[] {
  const index = spec.hosts.findIndex(({ local }) => local)
  if (index === -1 || spec.hosts.length === 1) return []
  const path = ['spec', 'hosts', index, 'local']
  return [problem('SPEC_LOCAL_NOT_ALONE', path, 'a host with local: true must be the only host')]
}

function hostAddresses({ spec }: Cluster): Problem[] {
  return spec.hosts.flatMap((host, index) => {
    const path = ['spec', 'hosts', index]
    if (host.internalAddress !== undefined && host.interface !== undefined) {
      const message = 'internalAddress and interface cannot be set together'
      return [problem('SPEC_ADDRESS_DUPLICATE', [...path, 'interface'], message, 'keep one of them')]
    }
    return []
  })
}

/** Reports a cluster in which NetworkPolicy objects have no effect. */
function networkPolicy({ spec }: Cluster): Problem[] {
  const { plugin, policy } = spec.network
  if (plugin !== 'flannel' || policy !== 'none') return []
  const message = 'NetworkPolicy objects are not enforced: every pod can reach every other pod'
  return [
    warningProblem('SPEC_NO_NETWORK_POLICY', ['spec', 'network', 'policy'], message, 'policy: kube-router'),
  ]
}

/** Reports a cluster without kube-proxy in which nothing can replace it. */
function kubeProxy({ spec }: Cluster): Problem[] {
  const { plugin, kubeProxy: setting } = spec.network
  if (setting !== 'none') return []
  const path = ['spec', 'network', 'kubeProxy']
  if (plugin !== 'none') {
    const message = `${plugin} does not replace kube-proxy: no Service would work`
    const hint = 'remove it, or set network.plugin: none and install a plugin that replaces kube-proxy'
    return [problem('SPEC_KUBE_PROXY_NONE', path, message, hint)]
  }
  if (!spec.hosts.some(({ os }) => os === 'windows')) return []
  const message = 'Windows hosts need kube-proxy'
  return [problem('SPEC_KUBE_PROXY_NONE', path, message, 'remove it, or the Windows hosts')]
}

function nodePorts({ spec }: Cluster): Problem[] {
  const [first = 0, last = 0] = spec.network.nodePorts.split('-').map(Number)
  const path = ['spec', 'network', 'nodePorts']
  if (first >= 1 && last <= 65_535 && first < last) return []
  return [problem('SPEC_WRONG_VALUE', path, 'must be two ports, the lower one first')]
}
