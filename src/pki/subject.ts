import type { Name } from '@peculiar/x509'
import type { AlternativeNames, CertificateSubject } from './names.ts'
import { canonicalNames } from './names.ts'
import type { X509 } from './x509.ts'

/** Each group gets its own RDN, because programs read multi-valued RDNs differently. */
export function buildX509Name(x509: X509, { commonName, organizations }: CertificateSubject): Name {
  // Passed as objects, because the library interprets escapes and hex in plain strings.
  return new x509.Name([
    ...organizations.map((organization) => ({ O: [{ utf8String: organization }] })),
    { CN: [{ utf8String: commonName }] },
  ])
}

/** Empty for a client without names. */
export function namesExtension(x509: X509, names: AlternativeNames) {
  const { dns, ip } = canonicalNames(names)
  const all = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...ip.map((value) => ({ type: 'ip' as const, value })),
  ]
  return all.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(all)]
}
