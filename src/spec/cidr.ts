import { Address4, Address6 } from 'ip-address'

/** A network or an address as the range of numbers that it is. */
export interface Range {
  readonly family: 4 | 6
  readonly first: bigint
  readonly last: bigint
  readonly prefix: number
}

/** Of text that has been found to be an address or a network. */
export function rangeOf(text: string): Range {
  const family = text.includes(':') ? 6 : 4
  const address = family === 6 ? new Address6(text) : new Address4(text)
  return {
    family,
    first: address.startAddress().bigInt(),
    last: address.endAddress().bigInt(),
    prefix: address.subnetMask,
  }
}

export function overlap(a: Range, b: Range): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last
}

/** Whether text names the first address of its network, as 10.244.0.0/16 does and 10.244.0.1/16 does not. */
export function isNetwork(text: string): boolean {
  const [address = ''] = text.split('/')
  return rangeOf(address).first === rangeOf(text).first
}

/** The address at a place in a network: the first one is 1. */
export function addressAt(network: string, place: number): string {
  const at = rangeOf(network).first + BigInt(place)
  return network.includes(':') ? Address6.fromBigInt(at).correctForm() : Address4.fromBigInt(at).correctForm()
}
