import { isIP } from 'node:net'
import { type Facts, toDevice } from '../contract/facts.ts'
import { addressAt } from '../spec/cidr.ts'
import { type Cluster, etcdHosts } from '../spec/cluster.ts'
import type { HostSpec } from '../spec/host.ts'
import { isDualStack } from '../spec/network.ts'

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
  /** First address of each service network. The service `kubernetes` has the first one. */
  readonly apiServiceAddresses: readonly string[]
  readonly dnsServiceAddress: string
}

export function buildTopology(cluster: Cluster, facts: ReadonlyMap<string, Facts>): Topology {
  const { spec } = cluster
  const members = (hosts: readonly HostSpec[]): HostAddress[] =>
    hosts
      .flatMap((host) => {
        const address = resolveInternalAddress(cluster, host, facts.get(host.name))
        return address === undefined ? [] : [{ name: host.name, address }]
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const [services = ''] = spec.network.services
  return {
    controlPlanes: members(spec.hosts.filter(({ roles }) => roles.includes('control-plane'))),
    etcd: members(etcdHosts(cluster)),
    apiServiceAddresses: spec.network.services.map((network) => addressAt(network, 1)),
    dnsServiceAddress: addressAt(services, 10),
  }
}

/** Returns the address at which the other hosts reach a host, if cluster.yml alone determines it. */
export function readInternalAddress(host: HostSpec): string | undefined {
  if (host.internalAddress !== undefined) return host.internalAddress
  return host.interface === undefined && isIP(host.address) !== 0 ? host.address : undefined
}

/**
 * Returns the address at which the other hosts reach a host. Undefined if it is neither in cluster.yml nor in
 * the facts. The virtual IP is no address of its own, although one control plane has it.
 */
export function resolveInternalAddress(
  { spec }: Cluster,
  host: HostSpec,
  facts: Facts | undefined,
): string | undefined {
  const configured = readInternalAddress(host)
  if (configured !== undefined) return configured
  const name = host.interface ?? facts?.system.defaultInterface
  return facts === undefined || name === undefined
    ? undefined
    : listInterfaceAddresses(facts.system, name).find(
        ({ address }) => isIP(address) === 4 && address !== spec.api.virtualIP,
      )?.address
}

/**
 * Returns the IPv6 address of a node in a dual-stack cluster. Undefined if cluster.yml does not set it, and the
 * interface with the IPv4 address has none or several. Of several, any could be temporary.
 */
export function resolveIpv6Address(
  cluster: Cluster,
  host: HostSpec,
  facts: Facts | undefined,
): string | undefined {
  if (!isDualStack(cluster.spec.network)) return undefined
  if (host.internalAddressIPv6 !== undefined) return normalizeAddress(host.internalAddressIPv6)
  const candidates = listIpv6Candidates(cluster, host, facts)
  return candidates.length === 1 ? candidates[0] : undefined
}

/** Returns the device of a Linux host that has an address. Of one device, IPv4 addresses may have own labels. */
export function findDevice(
  { addresses }: Pick<Facts['system'], 'addresses'>,
  address: string | undefined,
): string | undefined {
  const label = addresses.find((one) => one.address === address)?.interface
  return label === undefined ? undefined : toDevice(label)
}

/** Lists the IPv6 addresses of the interface that has the IPv4 address of a host. */
export function listIpv6Candidates(
  cluster: Cluster,
  host: HostSpec,
  facts: Facts | undefined,
): readonly string[] {
  const addresses = facts?.system.addresses ?? []
  const device = findDevice({ addresses }, resolveInternalAddress(cluster, host, facts))
  return addresses
    .filter((one) => toDevice(one.interface) === device && isIP(one.address) === 6)
    .map(({ address }) => normalizeAddress(address))
}

/** Returns the usual notation of an address. An IPv6 address has several notations. */
function normalizeAddress(address: string): string {
  return addressAt(address, 0)
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
