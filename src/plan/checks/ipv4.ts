/** As numbers, because every address of every host is looked at; the networks of a cluster are IPv4 alone. */
export interface Ipv4Range {
  readonly first: number
  readonly last: number
}

/** Of text that has been found to be an address. */
export function ipv4Range(address: string, prefix: number): Ipv4Range {
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const size = 2 ** (32 - prefix)
  const first = number - (number % size)
  return { first, last: first + size - 1 }
}

export function overlap(a: Ipv4Range, b: Ipv4Range): boolean {
  return a.first <= b.last && b.first <= a.last
}

export function isLoopback(address: string): boolean {
  return address.startsWith('127.') || address === '::1'
}
