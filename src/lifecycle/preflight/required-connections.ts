import type { Facts } from '../../contract/facts.ts'
import type { Op } from '../../contract/op.ts'
import { listRequiredPorts, type RequiredPort } from '../../plan/checks/ports.ts'
import { isControlPlane, isEtcdMember, isNode } from '../../plan/context.ts'
import { buildTopology, resolveInternalAddress, resolveIpv6Address } from '../../plan/topology.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { isIpv6First } from '../../spec/network.ts'

export type PeerRole = 'etcd' | 'control-plane' | 'node'
/** Firewall managers for which hyperkube knows the command that opens a port. */
export type HostFirewall = 'firewalld' | 'ufw'

/** A host with the data that its peers need to connect. */
export interface Peer {
  readonly host: string
  readonly address: string
  /** Address at which API servers reach the kubelet, if it is not `address`: that of a node with IPv6 first. */
  readonly kubeletAddress?: string
  readonly os: 'linux' | 'windows'
  readonly roles: ReadonlySet<PeerRole>
  /** Ports that other hosts must reach. */
  readonly ports: readonly RequiredPort[]
  /** Largest packet, in bytes, that leaves the host for pod traffic. */
  readonly packetBytes: number
  readonly firewalls: readonly HostFirewall[]
}

/** MTU that is assumed for an interface whose MTU is unknown. */
const defaultMtu = 1500

/** Lists the hosts whose facts are known, sorted by name. */
export function listPeers(cluster: Cluster, facts: ReadonlyMap<string, Facts>): readonly Peer[] {
  const topology = buildTopology(cluster, facts)
  const { mtu: flannelMtu } = cluster.spec.network.flannel
  return cluster.spec.hosts
    .flatMap((host): Peer[] => {
      const hostFacts = facts.get(host.name)
      const address = resolveInternalAddress(cluster, host, hostFacts)
      if (hostFacts === undefined || address === undefined) return []
      const { system } = hostFacts
      const context = { cluster, host, topology }
      const roles = [
        ...(isEtcdMember(context) ? (['etcd'] as const) : []),
        ...(isControlPlane(context) ? (['control-plane'] as const) : []),
        ...(isNode(context) ? (['node'] as const) : []),
      ]
      const kubeletAddress =
        isNode(context) && isIpv6First(cluster.spec.network)
          ? resolveIpv6Address(cluster, host, hostFacts)
          : undefined
      const { mtu = defaultMtu } = system.addresses.find((candidate) => candidate.address === address) ?? {}
      return [
        {
          host: host.name,
          address,
          ...(kubeletAddress === undefined ? {} : { kubeletAddress }),
          os: host.os,
          roles: new Set(roles),
          ports: listRequiredPorts(context).filter(({ from }) => from === 'hosts'),
          packetBytes: flannelMtu === undefined ? mtu : Math.min(flannelMtu, mtu),
          firewalls: system.os === 'linux' ? system.firewalls.filter((name) => name !== 'docker') : [],
        },
      ]
    })
    .toSorted((a, b) => (a.host < b.host ? -1 : 1))
}

/**
 * Returns nodes with the address at which API servers reach their kubelets, and with the port of the kubelet. Nodes
 * whose kubelets are reached at the address of all other ports are left out.
 */
export function listKubeletPeers(peers: readonly Peer[]): readonly Peer[] {
  return peers.flatMap((peer) => {
    const { kubeletAddress, ports } = peer
    if (kubeletAddress === undefined) return []
    return [
      { ...peer, address: kubeletAddress, ports: ports.filter(({ component }) => component === 'kubelet') },
    ]
  })
}

/** A port of one host that another host must reach. */
export interface RequiredConnection {
  readonly from: Peer
  readonly to: Peer
  readonly port: RequiredPort
}

/**
 * Lists the connections that involve a new host. Each node tests pod traffic to only three other nodes,
 * because testing all pairs of nodes would take too many probes.
 */
export function listRequiredConnections(
  peers: readonly Peer[],
  newHosts: ReadonlySet<string>,
): readonly RequiredConnection[] {
  const sources = {
    etcd: withRole(peers, 'etcd'),
    'control-plane': withRole(peers, 'control-plane'),
    node: withRole(peers, 'node'),
  }
  const direct = peers.flatMap((to) =>
    to.ports
      .filter(({ protocol }) => protocol === 'tcp')
      .flatMap((port) => {
        const role = findSourceRole(port)
        return (role === undefined ? peers : sources[role]).map((from) => ({ from, to, port }))
      }),
  )
  return [...direct, ...buildRing(sources.node)].filter(
    ({ from, to }) => from !== to && (newHosts.has(from.host) || newHosts.has(to.host)),
  )
}

function withRole(peers: readonly Peer[], role: PeerRole): readonly Peer[] {
  return peers.filter(({ roles }) => roles.has(role))
}

/** Returns the role of the hosts that connect to a port; undefined means all hosts. */
function findSourceRole({ component, port }: RequiredPort): PeerRole | undefined {
  if (component === 'kube-apiserver') return undefined
  // Only etcd members connect to the peer port of etcd.
  return component === 'etcd' && port === 2380 ? 'etcd' : 'control-plane'
}

/**
 * Lists connections for pod traffic from each node to three other nodes. In the list sorted by name these are
 * the next node, and the nodes one third and two thirds of the list further. Nodes with similar names are
 * often in the same rack, so the distant nodes also test connections between racks. Each node is also the
 * target of three nodes.
 */
function buildRing(nodes: readonly Peer[]): readonly RequiredConnection[] {
  const count = nodes.length
  const steps = new Set([1, Math.ceil(count / 3), Math.ceil((2 * count) / 3)])
  return nodes.flatMap((from, index) =>
    [...steps].flatMap((step) => {
      const to = nodes[(index + step) % count]
      const port = to?.ports.find(({ protocol }) => protocol === 'udp')
      return to === undefined || port === undefined ? [] : [{ from, to, port }]
    }),
  )
}

/** Components that accept connections from other hosts. */
const serverComponents: ReadonlySet<string> = new Set(['etcd', 'kube-apiserver', 'kubelet', 'flanneld'])

/**
 * Finds hosts that get a server component for the first time. Their connections have not been tested yet.
 * Servers that replace those of another tool are left out: their ports are in use, and their peers reach them.
 */
export function findNewHosts(ops: ReadonlyMap<string, readonly Op[]>): ReadonlySet<string> {
  const hasFirstInstall = (hostOps: readonly Op[]): boolean => {
    const replaced = new Set(
      hostOps.filter(({ target }) => target === 'predecessor').map(({ component }) => component),
    )
    return hostOps.some(
      ({ target, action, component }) =>
        target === 'service' &&
        action === 'create' &&
        serverComponents.has(component) &&
        !replaced.has(component) &&
        // Where containerd replaces Docker, the kubelet replaces one that runs in Docker.
        !(component === 'kubelet' && replaced.has('containerd')),
    )
  }
  return new Set([...ops].filter(([, hostOps]) => hasFirstInstall(hostOps)).map(([host]) => host))
}
