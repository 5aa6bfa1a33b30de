import { type Random, systemRandom } from './random.ts'

/**
 * Creates a random positive serial number of 127 bits in hex. Its highest bit is set, so all serial numbers
 * have the same length.
 */
export function serialNumber(random: Random = systemRandom): string {
  const bytes = Uint8Array.from(random.bytes(16))
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return Buffer.from(bytes).toString('hex')
}
