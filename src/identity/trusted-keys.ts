import type { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'

type AnyAuthority = Identity['authorities'][keyof Identity['authorities']]

/** Certificates of an authority that are to be trusted, one PEM after the other. The first one is of the key that signs. */
export function trustedAuthorities({ certificate, replacement }: Omit<AnyAuthority, 'name'>): string {
  if (replacement?.phase === 'trust') return `${certificate}${replacement.next.certificate}`
  return replacement?.phase === 'switch' ? `${certificate}${replacement.former}` : certificate
}

/** The same for the keys that tokens of service accounts are signed with. */
export function trustedServiceAccountKeys({ publicKey, replacement }: Identity['serviceAccount']): string {
  if (replacement?.phase === 'trust') return `${publicKey}${replacement.next.publicKey}`
  return replacement?.phase === 'switch' ? `${publicKey}${replacement.former}` : publicKey
}

/** A key that encrypts in etcd. The name is written beside all that it has encrypted. */
export interface NamedKey {
  readonly name: string
  readonly key: Secret
}

const firstName = 'key1'

/** Which key encrypts, and those with which there may be something to read yet. The first one encrypts. */
export function encryptionKeys({ encryptionKey, encryption }: Identity): readonly NamedKey[] {
  const own = { name: encryption?.name ?? firstName, key: encryptionKey }
  const replacement = encryption?.replacement
  if (replacement?.phase === 'trust') return [own, replacement.next]
  return replacement?.phase === 'switch' ? [own, replacement.former] : [own]
}
