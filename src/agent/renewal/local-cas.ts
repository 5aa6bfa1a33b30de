import type { X509Certificate } from 'node:crypto'
import { locateCaFiles } from '../../contract/ca-files.ts'
import { type Ca, caKeyName, type CaName } from '../../pki/ca.ts'
import { Secret } from '../../pki/secret.ts'
import { parseCertificates } from '../../pki/pem-bundle.ts'
import type { Host } from '../host/host.ts'

/** A CA whose key is on this host. */
export interface LocalCa {
  readonly ca: Ca
  /** All certificates that are trusted for this CA. */
  readonly trusted: readonly X509Certificate[]
}

/** Returns undefined if the key of the CA is not on this host. Only control planes have CA keys. */
export async function readLocalCa({ files }: Host, name: CaName): Promise<LocalCa | undefined> {
  const paths = locateCaFiles(name)
  const [certificates, privateKey] = [
    await files.read(paths.certificates),
    await files.read(paths.privateKey),
  ]
  if (certificates === undefined || privateKey === undefined) return undefined
  const trusted = parseCertificates(certificates.toString('utf8'))
  const certificate = trusted[0]?.toString() ?? ''
  return {
    ca: { name, certificate, privateKey: new Secret(caKeyName(name), privateKey) },
    trusted,
  }
}
