import { Address4, Address6 } from 'ip-address'

/** A network or a single address as a range of numbers. */
export interface AddressRange {
  readonly family: 4 | 6
  readonly first: bigint
  readonly last: bigint
  readonly prefix: number
}

/** Converts an address or a network to a range. `text` must already be validated. */
export function toRange(text: string): AddressRange {
  const family = text.includes(':') ? 6 : 4
  const address = family === 6 ? new Address6(text) : new Address4(text)
  return {
    family,
    first: address.startAddress().bigInt(),
    last: address.endAddress().bigInt(),
    prefix: address.subnetMask,
  }
}

export function rangesOverlap(a: AddressRange, b: AddressRange): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last
}

/** True if the address is the first one of its network: true for 10.244.0.0/16, false for 10.244.0.1/16. */
export function isNetwork(text: string): boolean {
  const [address = ''] = text.split('/')
  return toRange(address).first === toRange(text).first
}

/** Returns the address at an index in a network. Index 0 is the network address itself. */
export function addressAt(network: string, index: number): string {
  const at = toRange(network).first + BigInt(index)
  return network.includes(':') ? Address6.fromBigInt(at).correctForm() : Address4.fromBigInt(at).correctForm()
}
