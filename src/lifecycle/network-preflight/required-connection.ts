import type { RequiredPort } from '../../plan/checks/ports.ts'
import type { Peer, PeerRole } from './peer.ts'

/** A port of one host that another host must reach. */
export interface RequiredConnection {
  readonly from: Peer
  readonly to: Peer
  readonly port: RequiredPort
}

/**
 * Lists the connections that involve a new host. Each node tests only three other nodes, so the number does
 * not grow with the square of the hosts.
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
 * Lists connections for pod traffic from each node to three others: the next one by name, and two far away.
 * Similar names are often in the same rack. Each node is also the target of three others.
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
