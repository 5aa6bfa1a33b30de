import { createHmac } from 'node:crypto'
import type { Secret } from '../pki/secret.ts'
import { lastingKeys } from './stable-keys.ts'
import type { Identity } from './identity.ts'
import { trustedAuthorities, trustedServiceAccountKeys } from './trusted-keys.ts'

/** What everybody may know of an identity: enough to plan with. */
export interface PublicIdentity {
  readonly id: string
  /** All certificates that are trusted, as PEM; the first one is of the key that signs. */
  readonly authorities: {
    readonly kubernetes: string
    readonly etcd: string
    readonly frontProxy: string
  }
  /** The one of the key that signs, alone: some programs take no more. */
  readonly kubernetesSigner: string
  /** All that are trusted, as PEM. */
  readonly serviceAccountKeys: string
  /** By the name of a secret file: a tag that changes when its content does. */
  readonly tags: ReadonlyMap<string, string>
}

export function publicIdentity(identity: Identity, files: ReadonlyMap<string, Secret>): PublicIdentity {
  const { authorities, serviceAccount } = identity
  const key = lastingKeys(identity).tags.reveal()
  return {
    id: identity.id,
    authorities: {
      kubernetes: trustedAuthorities(authorities.kubernetes),
      etcd: trustedAuthorities(authorities.etcd),
      frontProxy: trustedAuthorities(authorities.frontProxy),
    },
    kubernetesSigner: authorities.kubernetes.certificate,
    serviceAccountKeys: trustedServiceAccountKeys(serviceAccount),
    tags: new Map([...files].map(([name, content]) => [name, tag(key, name, content)])),
  }
}

/** Keyed, because a plain digest of a short password tells the password to whoever has time to guess. */
function tag(key: Uint8Array, name: string, content: Secret): string {
  const mac = createHmac('sha256', key).update(`${name}\n`).update(content.reveal())
  return mac.digest('hex').slice(0, 32)
}
