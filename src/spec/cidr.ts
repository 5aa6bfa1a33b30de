import { isIP } from 'node:net'
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

/** A range of addresses that need not be a network. */
export type AddressSpan = Omit<AddressRange, 'prefix'>

/** Parses a network or `FIRST-LAST`. Returns undefined if the text is neither. */
export function parseAddressSpan(text: string): AddressSpan | undefined {
  // A zone, as in fe80::1%eth0, has a meaning only on one host.
  if (text.includes('%')) return undefined
  const [first = '', last, ...more] = text.split('-')
  if (last === undefined) return isCidr(text) ? toRange(text) : undefined
  if (more.length > 0 || isIP(first) === 0 || isIP(first) !== isIP(last)) return undefined
  const span = { family: toRange(first).family, first: toRange(first).first, last: toRange(last).last }
  return span.first <= span.last ? span : undefined
}

function isCidr(text: string): boolean {
  const [address = '', prefix = '', ...more] = text.split('/')
  const maxPrefix = isIP(address) === 4 ? 32 : 128
  return more.length === 0 && isIP(address) !== 0 && /^\d{1,3}$/.test(prefix) && Number(prefix) <= maxPrefix
}

export function rangesOverlap(a: AddressSpan, b: AddressSpan): boolean {
  return a.family === b.family && a.first <= b.last && b.first <= a.last
}

/** Networks whose addresses other machines cannot reach: unspecified, loopback, link-local, multicast, reserved. */
const reservedNetworks = [
  '0.0.0.0/8',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/3',
  '::/127',
  'fe80::/10',
  'ff00::/8',
]

/** Finds the reserved networks that overlap these addresses. */
export function findReservedNetworks(span: AddressSpan): readonly string[] {
  return reservedNetworks.filter((network) => rangesOverlap(toRange(network), span))
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
