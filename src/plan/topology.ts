import { isIP } from 'node:net'
import type { Facts } from '../contract/facts.ts'
import { addressAt } from '../spec/cidr.ts'
import { type Cluster, etcdHosts } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'

export interface HostAddress {
  readonly name: string
  readonly address: string
}

/**
 * Addresses that hosts must know. Workers are not included, so adding or removing a worker changes no other
 * host.
 */
export interface Topology {
  /** Control planes, sorted by name. */
  readonly controlPlanes: readonly HostAddress[]
  readonly etcd: readonly HostAddress[]
  /** Address of the service `kubernetes` inside the cluster. */
  readonly apiServiceAddress: string
  readonly dnsServiceAddress: string
}

export function buildTopology(cluster: Cluster, facts: ReadonlyMap<string, Facts>): Topology {
  const { spec } = cluster
  const members = (hosts: readonly HostSpec[]): HostAddress[] =>
    hosts
      .flatMap((host) => {
        const address = resolveInternalAddress(host, facts.get(host.name))
        return address === undefined ? [] : [{ name: host.name, address }]
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const [services = ''] = spec.network.services
  return {
    controlPlanes: members(spec.hosts.filter(({ roles }) => roles.includes('control-plane'))),
    etcd: members(etcdHosts(cluster)),
    apiServiceAddress: addressAt(services, 1),
    dnsServiceAddress: addressAt(services, 10),
  }
}

/**
 * Returns the address at which the other hosts reach a host. Undefined if it is neither in cluster.yml nor in
 * the facts.
 */
export function resolveInternalAddress(host: HostSpec, facts: Facts | undefined): string | undefined {
  if (host.internalAddress !== undefined) return host.internalAddress
  if (host.interface === undefined && isIP(host.address) !== 0) return host.address
  const name = host.interface ?? facts?.system.defaultInterface
  return facts === undefined || name === undefined
    ? undefined
    : listInterfaceAddresses(facts.system, name).find(({ address }) => isIP(address) === 4)?.address
}

/**
 * Lists the addresses of an interface. On Windows a virtual switch takes over the addresses of its adapter.
 * The switch is named `vEthernet (adapter)`, so this name is tried too.
 */
export function listInterfaceAddresses(
  { addresses }: Pick<Facts['system'], 'addresses'>,
  name: string,
): Facts['system']['addresses'] {
  const matching = addresses.filter((one) => one.interface === name)
  return matching.length > 0 ? matching : addresses.filter((one) => one.interface === `vEthernet (${name})`)
}
