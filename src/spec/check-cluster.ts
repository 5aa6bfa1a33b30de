import { isIP } from 'node:net'
import { addonRules } from './check-addons.ts'
import { isNetwork, rangesOverlap, toRange } from './cidr.ts'
import { type Cluster, etcdHosts } from './cluster.ts'
import { checkProxy, checkSkippedVerification } from './check-download-route.ts'
import { checkProfile } from './check-profile.ts'
import type { Path } from './document.ts'
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
  singleStack,
  networks,
  roomForNodes,
  roomForPods,
  nodePorts,
  networkPolicy,
  checkProxy,
  checkSkippedVerification,
  checkWeakening,
  checkOidc,
  checkProfile,
  ...addonRules,
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
  if (plugin === 'none') return roles
  const fits = flannel.backend === 'vxlan' && flannel.vni === 4096 && flannel.port === 4789
  const message = 'with Windows hosts flannel must use backend vxlan, VNI 4096 and port 4789'
  return fits ? roles : [...roles, problem('SPEC_WINDOWS_NETWORK', ['spec', 'network', 'flannel'], message)]
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

function singleStack({ spec }: Cluster): Problem[] {
  return (['pods', 'services'] as const).flatMap((name) => {
    const cidrs = spec.network[name]
    const path = ['spec', 'network', name]
    if (cidrs.length > 1) {
      return [problem('SPEC_DUAL_STACK', path, 'dual-stack is not supported yet', 'use one IPv4 network')]
    }
    if (cidrs.some((text) => text.includes(':'))) {
      return [problem('SPEC_IPV6', path, 'IPv6 is not supported yet', 'use an IPv4 network')]
    }
    return []
  })
}

function networks({ spec }: Cluster): Problem[] {
  const named = (['pods', 'services'] as const).flatMap((name) =>
    spec.network[name].map((text) => ({ name, text, path: ['spec', 'network', name] as Path })),
  )
  const misaligned = named
    .filter(({ text }) => !isNetwork(text))
    .map(({ text, path }) =>
      problem('SPEC_NOT_A_NETWORK', path, `${text} is a host address, not a network address`),
    )
  const [pods, services] = [spec.network.pods[0], spec.network.services[0]]
  const overlapping =
    pods !== undefined && services !== undefined && rangesOverlap(toRange(pods), toRange(services))
      ? [
          problem(
            'SPEC_OVERLAP',
            ['spec', 'network', 'services'],
            `${services} overlaps spec.network.pods ${pods}`,
          ),
        ]
      : []
  const hostsInside = spec.hosts.flatMap((host, index) => {
    const address = host.internalAddress ?? host.address
    if (isIP(address) === 0) return []
    return named
      .filter(({ text }) => rangesOverlap(toRange(text), toRange(address)))
      .map(({ name, text }) =>
        problem('SPEC_OVERLAP', ['spec', 'hosts', index], `${address} is in spec.network.${name} ${text}`),
      )
  })
  return [...misaligned, ...overlapping, ...hostsInside]
}

function roomForNodes({ spec }: Cluster): Problem[] {
  const { pods, nodePrefix } = spec.network
  const [network] = pods
  if (network === undefined) return []
  const { prefix } = toRange(network)
  const room = nodePrefix < prefix ? 0 : 2 ** (nodePrefix - prefix)
  if (room >= spec.hosts.length) return []
  const message = `${network} has space for ${room} nodes with /${nodePrefix} each; the cluster has ${spec.hosts.length}`
  return [problem('SPEC_PODS_TOO_SMALL', ['spec', 'network', 'pods'], message, 'use a larger network')]
}

function roomForPods({ spec }: Cluster): Problem[] {
  const room = 2 ** (32 - spec.network.nodePrefix) - 3
  const podLimits = [
    { maxPods: spec.components.kubelet.maxPods, path: ['spec', 'network', 'nodePrefix'] },
    ...spec.hosts.map(({ components }, index) => ({
      maxPods: components?.kubelet?.maxPods ?? 0,
      path: ['spec', 'hosts', index, 'components', 'kubelet', 'maxPods'],
    })),
  ]
  return podLimits
    .filter(({ maxPods }) => maxPods > room)
    .map(({ maxPods, path }) => {
      const message = `a /${spec.network.nodePrefix} per node has space for ${room} pods, not for ${maxPods}`
      return problem('SPEC_NODE_TOO_SMALL', path, message)
    })
}

function nodePorts({ spec }: Cluster): Problem[] {
  const [first = 0, last = 0] = spec.network.nodePorts.split('-').map(Number)
  const path = ['spec', 'network', 'nodePorts']
  if (first >= 1 && last <= 65_535 && first < last) return []
  return [problem('SPEC_WRONG_VALUE', path, 'must be two ports, the lower one first')]
}
