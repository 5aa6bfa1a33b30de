import { isIP } from 'node:net'
import { findReservedNetworks, isNetwork, rangesOverlap, toRange } from './cidr.ts'
import type { Cluster } from './cluster.ts'
import type { Path } from './document.ts'
import { findNetwork, isDualStack, isIpv6First } from './network.ts'
import { type ClusterRule, problem, type Problem } from './problem.ts'

/** Rules for the networks of pods and services, and for addresses of hosts in them. */
export const networkRules: readonly ClusterRule[] = [
  addressFamilies,
  dualStackHosts,
  hostsWithIpv4,
  ipv6Sizes,
  networks,
  roomForNodes,
  roomForPods,
]

const networkNames = ['pods', 'services'] as const

/** A cluster has IPv4 networks, or networks of both families for pods and for services, in the same order. */
function addressFamilies({ spec }: Cluster): Problem[] {
  const { pods, services } = spec.network
  const found = networkNames.flatMap((name) => {
    const path = ['spec', 'network', name]
    const families = spec.network[name].map((text) => toRange(text).family)
    if (families.join() === '6')
      return [problem('SPEC_IPV6', path, 'a cluster without IPv4 is not supported', 'add an IPv4 network')]
    return families[0] === families[1]
      ? [problem('SPEC_DUAL_STACK', path, 'both networks have the same address family', example[name])]
      : []
  })
  if (found.length > 0) return found
  if (pods.length === services.length) {
    if (isIpv6First({ services: pods }) === isIpv6First(spec.network)) return []
    const message = 'the first network has another address family than that of spec.network.pods'
    const hint = 'list both networks in the order of spec.network.pods'
    return [problem('SPEC_DUAL_STACK', ['spec', 'network', 'services'], message, hint)]
  }
  const [more, less] = isDualStack(spec.network) ? networkNames : (['services', 'pods'] as const)
  const message = `spec.network.${more} has an IPv6 network, but spec.network.${less} has none`
  return [problem('SPEC_DUAL_STACK', ['spec', 'network', less], message, example[less])]
}

const example = {
  pods: "pods: [10.244.0.0/16, 'fd00:10:244::/56']",
  services: "services: [10.96.0.0/16, 'fd00:10:96::/112']",
} as const

/** In a dual-stack cluster each node has an IPv4 and an IPv6 address. Other clusters have no IPv6 addresses of nodes. */
function dualStackHosts({ spec }: Cluster): Problem[] {
  return spec.hosts.flatMap((host, index) => {
    const path = ['spec', 'hosts', index]
    if (!isDualStack(spec.network)) {
      if (host.internalAddressIPv6 === undefined) return []
      const message = 'internalAddressIPv6 has no effect: spec.network.pods has no IPv6 network'
      return [problem('SPEC_DUAL_STACK', [...path, 'internalAddressIPv6'], message, example.pods)]
    }
    const { internalAddressIPv6 } = host
    const [reserved] =
      internalAddressIPv6 === undefined ? [] : findReservedNetworks(toRange(internalAddressIPv6))
    if (reserved !== undefined) {
      const message = `${internalAddressIPv6} is in ${reserved}, so other hosts cannot reach it`
      return [problem('SPEC_WRONG_VALUE', [...path, 'internalAddressIPv6'], message)]
    }
    if (host.os !== 'windows') return []
    const message = 'a Windows host cannot join a dual-stack cluster'
    return [problem('SPEC_DUAL_STACK', [...path, 'os'], message, 'use one IPv4 network')]
  })
}

/** Hosts reach etcd, API servers and each other at IPv4 addresses, also in a dual-stack cluster. */
function hostsWithIpv4({ spec }: Cluster): Problem[] {
  const isDual = isDualStack(spec.network)
  return spec.hosts.flatMap((host, index) => {
    const field = host.internalAddress === undefined ? 'address' : 'internalAddress'
    const isPrimary = field === 'internalAddress' || host.interface === undefined
    if (!isPrimary || isIP(host[field] ?? '') !== 6) return []
    const path = ['spec', 'hosts', index, field]
    const hint = 'internalAddress: the IPv4 address'
    return isDual
      ? [
          problem(
            'SPEC_DUAL_STACK',
            path,
            `${field} must be an IPv4 address; the IPv6 address belongs in internalAddressIPv6`,
            hint,
          ),
        ]
      : [problem('SPEC_IPV6', path, 'the other hosts reach a host only at an IPv4 address', hint)]
  })
}

/** Maximum difference between the prefix lengths of a pod network and of its part for one node. */
const maxNodeBits = 16
/** Shortest prefix of an IPv6 service network that all supported API servers accept. */
const minServicePrefix = 108
/** Longest prefix of a service network that has room for the addresses of the API and of the DNS service. */
const maxServicePrefix = 120
/** Smallest MTU that IPv6 allows, with the headers of VXLAN over IPv6. */
const minVxlanMtu = 1280 + 70

/** Limits of Kubernetes and of the kernel for IPv6 networks. */
function ipv6Sizes({ spec }: Cluster): Problem[] {
  const { pods, services, nodePrefixIPv6, flannel, plugin } = spec.network
  const wrong = (path: Path, message: string): Problem => problem('SPEC_WRONG_VALUE', path, message)
  const [podPrefix, servicePrefix] = [pods, services].map((list) => {
    const network = findNetwork(list, 6)
    return network === undefined ? undefined : toRange(network).prefix
  })
  const shortest = nodePrefixIPv6 - maxNodeBits
  return [
    ...(podPrefix !== undefined && podPrefix < shortest
      ? [
          wrong(
            ['spec', 'network', 'pods'],
            `with /${nodePrefixIPv6} per node the IPv6 network must have a prefix of at least /${shortest}`,
          ),
        ]
      : []),
    ...(servicePrefix !== undefined && (servicePrefix < minServicePrefix || servicePrefix > maxServicePrefix)
      ? [
          wrong(
            ['spec', 'network', 'services'],
            `the IPv6 network must have a prefix from /${minServicePrefix} to /${maxServicePrefix}`,
          ),
        ]
      : []),
    ...(isDualStack(spec.network) && plugin === 'flannel' && (flannel.mtu ?? minVxlanMtu) < minVxlanMtu
      ? [wrong(['spec', 'network', 'flannel', 'mtu'], `must be at least ${minVxlanMtu} for IPv6`)]
      : []),
  ]
}

function networks({ spec }: Cluster): Problem[] {
  const named = networkNames.flatMap((name) =>
    spec.network[name].map((text) => ({ name, text, path: ['spec', 'network', name] as Path })),
  )
  const misaligned = named
    .filter(({ text }) => !isNetwork(text))
    .map(({ text, path }) =>
      problem('SPEC_NOT_A_NETWORK', path, `${text} is a host address, not a network address`),
    )
  const overlapping = spec.network.services.flatMap((services) =>
    spec.network.pods
      .filter((pods) => rangesOverlap(toRange(pods), toRange(services)))
      .map((pods) =>
        problem(
          'SPEC_OVERLAP',
          ['spec', 'network', 'services'],
          `${services} overlaps spec.network.pods ${pods}`,
        ),
      ),
  )
  const hostsInside = spec.hosts.flatMap((host, index) =>
    [host.internalAddress ?? host.address, host.internalAddressIPv6 ?? '']
      .filter((address) => isIP(address) !== 0)
      .flatMap((address) =>
        named
          .filter(({ text }) => rangesOverlap(toRange(text), toRange(address)))
          .map(({ name, text }) =>
            problem(
              'SPEC_OVERLAP',
              ['spec', 'hosts', index],
              `${address} is in spec.network.${name} ${text}`,
            ),
          ),
      ),
  )
  return [...misaligned, ...overlapping, ...hostsInside]
}

function roomForNodes({ spec }: Cluster): Problem[] {
  const { pods, nodePrefix, nodePrefixIPv6 } = spec.network
  return pods.flatMap((network) => {
    const { prefix, family } = toRange(network)
    const perNode = family === 4 ? nodePrefix : nodePrefixIPv6
    const room = perNode < prefix ? 0 : 2 ** (perNode - prefix)
    if (room >= spec.hosts.length) return []
    const message = `${network} has space for ${room} nodes with /${perNode} each; the cluster has ${spec.hosts.length}`
    return [problem('SPEC_PODS_TOO_SMALL', ['spec', 'network', 'pods'], message, 'use a larger network')]
  })
}

/** IPv6 needs no such rule: the smallest part of a node has 65,536 addresses. */
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
