import { isIP } from 'node:net'
import { parseEndpointHost } from './api.ts'
import {
  type AddressSpan,
  findReservedNetworks,
  isNetwork,
  parseAddressSpan,
  rangesOverlap,
  toRange,
} from './cidr.ts'
import type { Cluster } from './cluster.ts'
import type { LoadBalancerSettings } from './load-balancer.ts'
import { isIpv6First } from './network.ts'
import { problem, type Problem, type ClusterRule, warningProblem } from './problem.ts'

export const loadBalancerRules: readonly ClusterRule[] = [
  poolNetworks,
  poolFamilies,
  primaryFamily,
  poolOverlaps,
  reservedAddresses,
  usableAddresses,
]

interface PoolEntry {
  readonly text: string
  readonly span: AddressSpan
  readonly path: readonly (string | number)[]
}

function listPoolEntries({ loadBalancer }: Cluster['spec']): readonly PoolEntry[] {
  if (loadBalancer === 'none') return []
  return loadBalancer.addresses.flatMap((text, index) => {
    const span = parseAddressSpan(text)
    return span === undefined ? [] : [{ text, span, path: ['spec', 'loadBalancer', 'addresses', index] }]
  })
}

function poolNetworks({ spec }: Cluster): Problem[] {
  return listPoolEntries(spec)
    .filter(({ text }) => text.includes('/') && !isNetwork(text))
    .map(({ text, path }) =>
      problem('SPEC_NOT_A_NETWORK', path, `${text} is a host address, not a network address`),
    )
}

/**
 * Reports addresses of a family that Services of this cluster cannot have, or that MetalLB's own BGP program
 * cannot announce.
 */
function poolFamilies({ spec }: Cluster): Problem[] {
  const families = new Set(spec.network.services.map((network) => toRange(network).family))
  const hasBgp = spec.loadBalancer !== 'none' && spec.loadBalancer.bgp !== undefined
  return listPoolEntries(spec).flatMap(({ text, span: { family }, path }) => {
    const code = 'SPEC_LOAD_BALANCER_FAMILY'
    if (!families.has(family)) {
      const message = `${text} is IPv${family}, and spec.network.services has no IPv${family} network`
      return [problem(code, path, message)]
    }
    return hasBgp && family === 6 ? [problem(code, path, `${text} is IPv6, and BGP announces only IPv4`)] : []
  })
}

/**
 * Reports a pool from which Services get no address by default. A Service has one address of the primary family,
 * unless it asks for another family.
 */
function primaryFamily({ spec }: Cluster): Problem[] {
  const { loadBalancer, network } = spec
  const entries = listPoolEntries(spec)
  const [primary, other] = isIpv6First(network) ? ([6, 4] as const) : ([4, 6] as const)
  const isKnown = network.services.some((text) => toRange(text).family === other)
  if (loadBalancer === 'none' || !isKnown || entries.length === 0) return []
  if (entries.some(({ span }) => span.family === primary)) return []
  const message = `the pool has no IPv${primary} address, and by default Services are IPv${primary}: they stay pending`
  const hint = `set ipFamilies: [IPv${other}] in each Service of the type LoadBalancer`
  return [
    warningProblem(
      'SPEC_LOAD_BALANCER_PRIMARY',
      ['spec', 'loadBalancer', 'addresses'],
      message,
      loadBalancer.bgp === undefined ? `add IPv${primary} addresses, or ${hint}` : hint,
    ),
  ]
}

/** Reports addresses that the cluster uses for something else. */
function poolOverlaps({ spec }: Cluster): Problem[] {
  const { loadBalancer } = spec
  if (loadBalancer === 'none') return []
  const entries = listPoolEntries(spec)
  const used = listUsedAddresses(spec, loadBalancer)
  return entries.flatMap(({ text, span, path }, index) => {
    const others = [...used, ...entries.slice(0, index).map((entry) => ({ ...entry, what: 'the pool' }))]
    return others
      .filter((other) => rangesOverlap(other.span, span))
      .map((other) => problem('SPEC_OVERLAP', path, `${text} overlaps ${other.what} (${other.text})`))
  })
}

interface UsedAddress extends Pick<PoolEntry, 'text' | 'span'> {
  /** The setting that uses the address. */
  readonly what: string
}

function listUsedAddresses(spec: Cluster['spec'], { bgp }: LoadBalancerSettings): readonly UsedAddress[] {
  const named = [
    ...spec.network.pods.map((text) => ({ what: 'spec.network.pods', text })),
    ...spec.network.services.map((text) => ({ what: 'spec.network.services', text })),
    ...spec.hosts.flatMap(({ name, address, internalAddress = '', internalAddressIPv6 = '' }) =>
      [address, internalAddress, internalAddressIPv6].map((text) => ({ what: `host ${name}`, text })),
    ),
    { what: 'spec.api.virtualIP', text: spec.api.virtualIP ?? '' },
    { what: 'spec.api.endpoint', text: parseEndpointHost(spec.api.endpoint ?? '') },
    ...(bgp?.peers ?? []).map(({ address }) => ({ what: 'a BGP peer', text: address })),
  ]
  const unique = new Map(named.map((one) => [`${one.what} ${one.text}`, one]))
  return [...unique.values()]
    .filter(({ text }) => text.includes('/') || isIP(text) !== 0)
    .map((one) => ({ ...one, span: toRange(one.text) }))
}

function reservedAddresses({ spec }: Cluster): Problem[] {
  return listPoolEntries(spec).flatMap(({ text, span, path }) =>
    findReservedNetworks(span).map((network) =>
      problem('SPEC_WRONG_VALUE', path, `${text} overlaps ${network}, which Services cannot use`),
    ),
  )
}

/**
 * Reports a pool without an address for a Service. MetalLB skips IPv4 addresses that end with .0 or .255,
 * because they are often the address or the broadcast address of a network.
 */
function usableAddresses({ spec }: Cluster): Problem[] {
  const entries = listPoolEntries(spec)
  if (entries.length === 0 || entries.some(({ span }) => hasUsableAddress(span))) return []
  const message = 'has only addresses that end with .0 or .255, which Services do not get'
  return [problem('SPEC_LOAD_BALANCER_EMPTY', ['spec', 'loadBalancer', 'addresses'], message)]
}

function hasUsableAddress({ family, first, last }: AddressSpan): boolean {
  return family === 6 || last - first > 1n || [first, last].some((one) => ![0n, 255n].includes(one % 256n))
}
