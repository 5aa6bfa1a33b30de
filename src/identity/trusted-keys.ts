import { caCommonNames } from '../pki/ca.ts'
import { inspectCertificate, parseCertificates } from '../pki/certificates.ts'
import type { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'

type AnyCa = Identity['cas'][keyof Identity['cas']]

/** Returns the trusted certificates of a CA as concatenated PEM. The first one belongs to the signing key. */
export function trustedCas({ certificate, replacement }: Omit<AnyCa, 'name'>): string {
  if (replacement?.phase === 'trust') return `${certificate}${replacement.next.certificate}`
  return replacement?.phase === 'switch' ? `${certificate}${replacement.previous}` : certificate
}

/**
 * True if etcd trusts a CA that also signed certificates of the cluster. RKE1 has one CA for both, so every
 * certificate of a node gives access to etcd until the CA of etcd is rotated.
 */
export function sharesEtcdCa({ cas }: Pick<Identity, 'cas'>): boolean {
  return parseCertificates(trustedCas(cas.etcd)).some((one) =>
    caCommonNames.kubernetes.includes(inspectCertificate(one.toString()).commonName ?? ''),
  )
}

/**
 * Returns the trusted public keys for service account tokens as concatenated PEM. The first one belongs to
 * the signing key.
 */
export function trustedServiceAccountKeys({ publicKey, replacement }: Identity['serviceAccount']): string {
  if (replacement?.phase === 'trust') return `${publicKey}${replacement.next.publicKey}`
  return replacement?.phase === 'switch' ? `${publicKey}${replacement.previous}` : publicKey
}

/** A key that encrypts data in etcd. Its name is stored with the data that it encrypted. */
export interface NamedKey {
  readonly name: string
  readonly key: Secret
}

const firstName = 'key1'

/** Returns the keys that can decrypt data in etcd. The first one also encrypts. */
export function encryptionKeys({ encryptionKey, encryption }: Identity): readonly NamedKey[] {
  const current = { name: encryption?.name ?? firstName, key: encryptionKey }
  const replacement = encryption?.replacement
  if (replacement?.phase === 'trust') return [current, replacement.next]
  return replacement?.phase === 'switch' ? [current, replacement.previous] : [current]
}
