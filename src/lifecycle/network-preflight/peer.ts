import type { Facts } from '../../contract/facts.ts'
import { type Port, portsOf } from '../../plan/checks/ports.ts'
import { isControlPlane, isEtcdMember, isNode } from '../../plan/context.ts'
import { internalAddress, topologyOf } from '../../plan/topology.ts'
import type { Cluster } from '../../spec/cluster.ts'

export type PeerRole = 'etcd' | 'control-plane' | 'node'
/** Who manages packets on a host, and can be told what to let in. */
export type Gatekeeper = 'firewalld' | 'ufw'

/** A host as the others meet it. */
export interface Peer {
  readonly host: string
  readonly address: string
  readonly os: 'linux' | 'windows'
  readonly roles: ReadonlySet<PeerRole>
  /** Those that others must reach. */
  readonly ports: readonly Port[]
  /** How large a packet leaves the host when a pod sends as much as it may, in bytes. */
  readonly packet: number
  readonly gatekeepers: readonly Gatekeeper[]
}

/** Of an interface that does not say. */
const usualPacket = 1500

/** The hosts of which there are facts, by name. */
export function peersOf(cluster: Cluster, facts: ReadonlyMap<string, Facts>): readonly Peer[] {
  const topology = topologyOf(cluster, facts)
  const { mtu: wish } = cluster.spec.network.flannel
  return cluster.spec.hosts
    .flatMap((host): Peer[] => {
      const own = facts.get(host.name)
      const address = internalAddress(host, own)
      if (own === undefined || address === undefined) return []
      const { system } = own
      const scene = { cluster, host, topology }
      const roles = [
        ...(isEtcdMember(scene) ? (['etcd'] as const) : []),
        ...(isControlPlane(scene) ? (['control-plane'] as const) : []),
        ...(isNode(scene) ? (['node'] as const) : []),
      ]
      const { mtu = usualPacket } = system.addresses.find((one) => one.address === address) ?? {}
      return [
        {
          host: host.name,
          address,
          os: host.os,
          roles: new Set(roles),
          ports: portsOf(scene).filter(({ from }) => from === 'hosts'),
          packet: wish === undefined ? mtu : Math.min(wish, mtu),
          gatekeepers: system.os === 'linux' ? system.firewalls.filter((name) => name !== 'docker') : [],
        },
      ]
    })
    .toSorted((a, b) => (a.host < b.host ? -1 : 1))
}
