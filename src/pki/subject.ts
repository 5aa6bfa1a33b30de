import type { Name } from '@peculiar/x509'
import type { AlternativeNames, Subject } from './names.ts'
import { sameSpelling } from './names.ts'
import type { X509 } from './x509.ts'

/** Each group is a part of its own: joined ones are read differently by different programs. */
export function nameOf(x509: X509, { commonName, organizations }: Subject): Name {
  // Given as objects because the library reads escapes and hex in plain strings.
  return new x509.Name([
    ...organizations.map((organization) => ({ O: [{ utf8String: organization }] })),
    { CN: [{ utf8String: commonName }] },
  ])
}

/** None for a client that has no names. */
export function namesExtension(x509: X509, names: AlternativeNames) {
  const { dns, ip } = sameSpelling(names)
  const all = [
    ...dns.map((value) => ({ type: 'dns' as const, value })),
    ...ip.map((value) => ({ type: 'ip' as const, value })),
  ]
  return all.length === 0 ? [] : [new x509.SubjectAlternativeNameExtension(all)]
}
