import { createHmac } from 'node:crypto'
import type { Secret } from '../pki/secret.ts'
import { deriveStableKeys } from './stable-keys.ts'
import type { Identity } from './identity.ts'
import { trustedCas, trustedServiceAccountKeys } from './trusted-keys.ts'

/** The part of an identity that is not secret: enough to make plans. */
export interface PublicIdentity {
  readonly id: string
  /** All trusted certificates, as PEM; the first one belongs to the signing key. */
  readonly cas: {
    readonly kubernetes: string
    readonly etcd: string
    readonly frontProxy: string
  }
  /** Only the certificate of the signing key, because some programs accept just one. */
  readonly kubernetesSigner: string
  /** All trusted keys, as PEM. */
  readonly serviceAccountKeys: string
  /** By name of a secret file: a tag that changes with the content. */
  readonly tags: ReadonlyMap<string, string>
}

export function toPublicIdentity(identity: Identity, files: ReadonlyMap<string, Secret>): PublicIdentity {
  const { cas, serviceAccount } = identity
  const key = deriveStableKeys(identity).tags.reveal()
  return {
    id: identity.id,
    cas: {
      kubernetes: trustedCas(cas.kubernetes),
      etcd: trustedCas(cas.etcd),
      frontProxy: trustedCas(cas.frontProxy),
    },
    kubernetesSigner: cas.kubernetes.certificate,
    serviceAccountKeys: trustedServiceAccountKeys(serviceAccount),
    tags: new Map([...files].map(([name, content]) => [name, tag(key, name, content)])),
  }
}

/** Keyed, because a plain digest of a short password could be guessed offline. */
function tag(key: Uint8Array, name: string, content: Secret): string {
  const mac = createHmac('sha256', key).update(`${name}\n`).update(content.reveal())
  return mac.digest('hex').slice(0, 32)
}
