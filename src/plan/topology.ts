import { isIP } from 'node:net'
import type { Facts } from '../contract/facts.ts'
import { addressAt } from '../spec/cidr.ts'
import type { Cluster } from '../spec/cluster.ts'
import { etcdHosts } from '../spec/etcd-hosts.ts'
import type { Host } from '../spec/host.ts'

export interface Member {
  readonly name: string
  readonly address: string
}

/**
 * What hosts must know of each other: of workers, nothing. So a worker that comes or goes changes no other host.
 */
export interface Topology {
  /** By name, whatever the order in the file. */
  readonly controlPlanes: readonly Member[]
  readonly etcd: readonly Member[]
  /** Of the API, inside the cluster. */
  readonly firstService: string
  readonly dns: string
}

export function topologyOf(cluster: Cluster, facts: ReadonlyMap<string, Facts>): Topology {
  const { spec } = cluster
  const members = (hosts: readonly Host[]): Member[] =>
    hosts
      .flatMap((host) => {
        const address = internalAddress(host, facts.get(host.name))
        return address === undefined ? [] : [{ name: host.name, address }]
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const [services = ''] = spec.network.services
  return {
    controlPlanes: members(spec.hosts.filter(({ roles }) => roles.includes('control-plane'))),
    etcd: members(etcdHosts(cluster)),
    firstService: addressAt(services, 1),
    dns: addressAt(services, 10),
  }
}

/** Where the other hosts find a host, as far as the file and the host itself say. */
export function internalAddress(host: Host, facts: Facts | undefined): string | undefined {
  if (host.internalAddress !== undefined) return host.internalAddress
  if (host.interface === undefined && isIP(host.address) !== 0) return host.address
  const name = host.interface ?? facts?.system.defaultInterface
  return facts === undefined || name === undefined
    ? undefined
    : addressesOn(facts.system, name).find(({ address }) => isIP(address) === 4)?.address
}

/** What an interface has. On Windows a switch that is made on an adapter takes its addresses, and is called after it. */
export function addressesOn(
  { addresses }: Pick<Facts['system'], 'addresses'>,
  name: string,
): Facts['system']['addresses'] {
  const own = addresses.filter((one) => one.interface === name)
  return own.length > 0 ? own : addresses.filter((one) => one.interface === `vEthernet (${name})`)
}
