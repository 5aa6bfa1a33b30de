import type { Port } from '../../plan/checks/ports.ts'
import type { Peer, PeerRole } from './peer.ts'

/** That one host reaches a port of another. */
export interface Need {
  readonly from: Peer
  readonly to: Peer
  readonly port: Port
}

/**
 * All that must be reached where a host of either end is new. Of n hosts there are as many as n times the control planes,
 * which are few: nodes look at three other nodes only.
 */
export function needsOf(peers: readonly Peer[], fresh: ReadonlySet<string>): readonly Need[] {
  const askers = {
    etcd: having(peers, 'etcd'),
    'control-plane': having(peers, 'control-plane'),
    node: having(peers, 'node'),
  }
  const direct = peers.flatMap((to) =>
    to.ports
      .filter(({ protocol }) => protocol === 'tcp')
      .flatMap((port) => {
        const role = askerOf(port)
        return (role === undefined ? peers : askers[role]).map((from) => ({ from, to, port }))
      }),
  )
  return [...direct, ...ring(askers.node)].filter(
    ({ from, to }) => from !== to && (fresh.has(from.host) || fresh.has(to.host)),
  )
}

function having(peers: readonly Peer[], role: PeerRole): readonly Peer[] {
  return peers.filter(({ roles }) => roles.has(role))
}

/** The hosts that need a port; undefined: all. */
function askerOf({ component, port }: Port): PeerRole | undefined {
  if (component === 'kube-apiserver') return undefined
  // Members of etcd among themselves.
  return component === 'etcd' && port === 2380 ? 'etcd' : 'control-plane'
}

/**
 * Packets of pods, from each node to three others: the next one by name, and two far away, because names that are close
 * are often in one rack. So each is also looked for by three.
 */
function ring(nodes: readonly Peer[]): readonly Need[] {
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
