import type { Facts } from '../../contract/facts.ts'
import type { Finding } from '../../contract/finding.ts'
import { type AddressRange, toRange } from '../../spec/cidr.ts'
import type { HostSpec } from '../../spec/host.ts'
import {
  buildSharedPlanData,
  type LinuxSystemFacts,
  type PlanContext,
  type PlanInput,
  type SharedPlanData,
  type WindowsSystemFacts,
} from '../context.ts'
import { resolveInternalAddress, resolveIpv6Address, type Topology } from '../topology.ts'

/**
 * Input of the cluster checks. Derived data is computed only once, because there may be thousands of hosts.
 */
export interface CheckInput extends Omit<PlanInput, 'version'>, SharedPlanData {
  readonly topology: Topology
  readonly networks: readonly ClusterNetwork[]
  /** Empty if the cluster is not dual-stack. */
  readonly ipv6Networks: readonly ClusterNetwork<AddressRange>[]
  /** For each machine id, the name of the first host that has this id. Hosts are ordered by name. */
  readonly firstHostByMachineId: ReadonlyMap<string, string>
  /** For each hostname, the name of the first host that has this hostname. Hosts are ordered by name. */
  readonly firstHostByHostname: ReadonlyMap<string, string>
  /** For each internal address, the names of the hosts that have this address. */
  readonly hostsByAddress: ReadonlyMap<string, readonly string[]>
}

export interface ClusterNetwork<Range = Ipv4Range> {
  readonly name: 'pods' | 'services'
  readonly text: string
  readonly range: Range
}

/** A host of cluster.yml, reachable or not. */
export interface HostSubject extends CheckInput {
  readonly host: HostSpec
  /** Index in spec.hosts. */
  readonly index: number
}

/** A host with known facts. */
export interface SystemSubject<System extends Facts['system'] = Facts['system']>
  extends HostSubject, Omit<PlanContext<System>, 'version' | 'lock'> {}

type Check<Subject> = (subject: Subject) => readonly Finding[]

export type ClusterCheck = Check<CheckInput>
export type HostCheck = Check<HostSubject>
export type SystemCheck = Check<SystemSubject>
export type LinuxCheck = Check<SystemSubject<LinuxSystemFacts>>
export type WindowsCheck = Check<SystemSubject<WindowsSystemFacts>>

type FindingDetails = Pick<Finding, 'hint' | 'component' | 'path'>

export function hostError(
  { host }: Pick<HostSubject, 'host'>,
  code: string,
  message: string,
  details: FindingDetails,
): Finding {
  return { code, severity: 'error', message, ...details, host: host.name }
}

export function hostWarning(
  { host }: Pick<HostSubject, 'host'>,
  code: string,
  message: string,
  details: FindingDetails,
): Finding {
  return { code, severity: 'warning', message, ...details, host: host.name }
}

/** A range of IPv4 addresses. The bounds are numbers, because comparing numbers is fast. */
interface Ipv4Range {
  readonly first: number
  readonly last: number
}

/** Computes the range of addresses in a network, from one of its addresses and its prefix length. */
export function toIpv4Range(address: string, prefix: number): Ipv4Range {
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - prefix)
  const first = number - (number % size)
  return { first, last: first + size - 1 }
}

export function ipv4RangesOverlap(a: Ipv4Range, b: Ipv4Range): boolean {
  return a.first <= b.last && b.first <= a.last
}

export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}

export function buildCheckInput(input: PlanInput, topology: Topology): CheckInput {
  const { spec } = input.cluster
  const names = spec.hosts.map(({ name }) => name).toSorted()
  return {
    ...input,
    ...buildSharedPlanData(input.lock),
    topology,
    networks: [
      ...toClusterNetworks('pods', spec.network.pods),
      ...toClusterNetworks('services', spec.network.services),
    ],
    ipv6Networks: (['pods', 'services'] as const).flatMap((name) =>
      spec.network[name]
        .filter((text) => text.includes(':'))
        .map((text) => ({ name, text, range: toRange(text) })),
    ),
    firstHostByMachineId: findFirstHosts(input, names, ({ machineId }) => machineId),
    firstHostByHostname: findFirstHosts(input, names, ({ hostname }) => hostname.toLowerCase()),
    hostsByAddress: groupByAddress(input),
  }
}

function groupByAddress({ cluster, facts }: PlanInput): ReadonlyMap<string, readonly string[]> {
  const hosts = cluster.spec.hosts.flatMap((host) => {
    const hostFacts = facts.get(host.name)
    const ipv6Address = resolveIpv6Address(cluster, host, hostFacts)
    return [
      { name: host.name, address: resolveInternalAddress(cluster, host, hostFacts) ?? '' },
      ...(ipv6Address === undefined ? [] : [{ name: host.name, address: ipv6Address }]),
    ]
  })
  const groups = Map.groupBy(hosts, ({ address }) => address)
  return new Map([...groups].map(([address, some]) => [address, some.map(({ name }) => name)]))
}

function toClusterNetworks(name: ClusterNetwork['name'], texts: readonly string[]): ClusterNetwork[] {
  return texts
    .filter((text) => !text.includes(':'))
    .map((text) => {
      const [address = '', prefix] = text.split('/')
      return { name, text, range: toIpv4Range(address, Number(prefix)) }
    })
}

/**
 * For each key that `toKey` returns, finds the first host with this key. Keys must be unique, so any later
 * host with the same key is a duplicate.
 */
function findFirstHosts(
  { facts }: PlanInput,
  names: readonly string[],
  toKey: (system: Facts['system']) => string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of names) {
    const system = facts.get(name)?.system
    if (system !== undefined && !found.has(toKey(system))) found.set(toKey(system), name)
  }
  return found
}
