/**
 * A range of IPv4 addresses as numbers, because comparing numbers is fast. Cluster networks are IPv4 only.
 */
export interface Ipv4Range {
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
