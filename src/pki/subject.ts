import type { Name } from '@peculiar/x509'
import type { AlternativeNames, CertificateSubject } from './names.ts'
import { canonicalNames } from './names.ts'
import type { X509 } from './x509.ts'

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

/** Returns the extension with alternative names, or an empty list if there are no names. */
export function namesExtension(x509: X509, names: AlternativeNames) {
  const { dns, ip } = canonicalNames(names)
  const all = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...ip.map((value) => ({ type: 'ip' as const, value })),
  ]
  return all.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(all)]
}
