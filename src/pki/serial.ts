import { type Random, systemRandom } from './random.ts'

/**
 * 127 bits, positive, as hex. The highest bit is set, so that all serials have the same length and none is
 * zero.
 */
export function serialNumber(random: Random = systemRandom): string {
  const bytes = Uint8Array.from(random.bytes(16))
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return Buffer.from(bytes).toString('hex')
}
