import type { Facts } from '../../contract/facts.ts'
import { type RequiredPort, listRequiredPorts } from '../../plan/checks/ports.ts'
import { isControlPlane, isEtcdMember, isNode } from '../../plan/context.ts'
import { resolveInternalAddress, buildTopology } from '../../plan/topology.ts'
import type { Cluster } from '../../spec/cluster.ts'

export type PeerRole = 'etcd' | 'control-plane' | 'node'
/** Firewall managers for which hyperkube knows the command that opens a port. */
export type HostFirewall = 'firewalld' | 'ufw'

/** A host with the data that its peers need to connect. */
export interface Peer {
  readonly host: string
  readonly address: string
  readonly os: 'linux' | 'windows'
  readonly roles: ReadonlySet<PeerRole>
  /** Ports that other hosts must reach. */
  readonly ports: readonly RequiredPort[]
  /** Largest packet, in bytes, that leaves the host for pod traffic. */
  readonly packetBytes: number
  readonly firewalls: readonly HostFirewall[]
}

/** Used for interfaces whose MTU is unknown. */
const defaultMtu = 1500

/** Lists the hosts whose facts are known, sorted by name. */
export function listPeers(cluster: Cluster, facts: ReadonlyMap<string, Facts>): readonly Peer[] {
  const topology = buildTopology(cluster, facts)
  const { mtu: flannelMtu } = cluster.spec.network.flannel
  return cluster.spec.hosts
    .flatMap((host): Peer[] => {
      const hostFacts = facts.get(host.name)
      const address = resolveInternalAddress(host, hostFacts)
      if (hostFacts === undefined || address === undefined) return []
      const { system } = hostFacts
      const context = { cluster, host, topology }
      const roles = [
        ...(isEtcdMember(context) ? (['etcd'] as const) : []),
        ...(isControlPlane(context) ? (['control-plane'] as const) : []),
        ...(isNode(context) ? (['node'] as const) : []),
      ]
      const { mtu = defaultMtu } = system.addresses.find((candidate) => candidate.address === address) ?? {}
      return [
        {
          host: host.name,
          address,
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
