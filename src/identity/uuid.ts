import type { Random } from '../pki/random.ts'

/** A random UUID (version 4). */
export function uuid(random: Random): string {
  const bytes = Uint8Array.from(random.bytes(16))
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = Buffer.from(bytes).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
