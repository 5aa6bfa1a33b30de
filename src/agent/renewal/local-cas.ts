import type { X509Certificate } from 'node:crypto'
import { authorityFiles } from '../../contract/ca-files.ts'
import { type Authority, authorityKeyName, type AuthorityName } from '../../pki/ca.ts'
import { Secret } from '../../pki/secret.ts'
import { certificatesIn } from '../../pki/pem-bundle.ts'
import type { Host } from '../host/host.ts'

/** An authority that this host can sign with. */
export interface OwnAuthority {
  readonly authority: Authority
  /** All that are trusted under its name. */
  readonly trusted: readonly X509Certificate[]
}

/** Control planes have all of them, other hosts none. */
export async function ownAuthority({ files }: Host, name: AuthorityName): Promise<OwnAuthority | undefined> {
  const places = authorityFiles(name)
  const [certificates, privateKey] = [
    await files.read(places.certificates),
    await files.read(places.privateKey),
  ]
  if (certificates === undefined || privateKey === undefined) return undefined
  const trusted = certificatesIn(certificates.toString('utf8'))
  const certificate = trusted[0]?.toString() ?? ''
  return {
    authority: { name, certificate, privateKey: new Secret(authorityKeyName(name), privateKey) },
    trusted,
  }
}
