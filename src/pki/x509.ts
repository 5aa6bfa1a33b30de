import type { Name } from '@peculiar/x509'
import { type Random, systemRandom } from './keys.ts'
import { type AlternativeNames, canonicalNames, type CertificateSubject } from './names.ts'

/** Loads the X.509 library only when it is needed, because loading takes 120 ms. */
export async function loadX509() {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

export type X509 = Awaited<ReturnType<typeof loadX509>>

/**
 * Creates a random serial number of 16 bytes in hex. The first bit is 0, so the number is positive. The
 * second bit is 1, so all serial numbers have the same length.
 */
export function serialNumber(random: Random = systemRandom): string {
  const bytes = Uint8Array.from(random.bytes(16))
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return Buffer.from(bytes).toString('hex')
}

/**
 * Builds the X.509 name of a subject. Each organization gets its own RDN, because programs interpret
 * multi-valued RDNs differently.
 */
export function buildX509Name(x509: X509, { commonName, organizations }: CertificateSubject): Name {
  // Values are passed as objects, because the library interprets escapes and hex in plain strings.
  return new x509.Name([
    ...organizations.map((organization) => ({ O: [{ utf8String: organization }] })),
    { CN: [{ utf8String: commonName }] },
  ])
}

/** Returns a list with the extension for alternative names. The list is empty if there are no names. */
export function namesExtension(x509: X509, names: AlternativeNames) {
  const { dns, ip } = canonicalNames(names)
  const all = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...ip.map((value) => ({ type: 'ip' as const, value })),
  ]
  return all.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(all)]
}
