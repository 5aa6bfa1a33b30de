import { createHmac, hkdfSync } from 'node:crypto'
import type { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'

/** What everybody may know of an identity: enough to plan with. */
export interface PublicIdentity {
  readonly id: string
  /** PEM. */
  readonly authorities: {
    readonly kubernetes: string
    readonly etcd: string
    readonly frontProxy: string
  }
  /** PEM. */
  readonly serviceAccountKey: string
  /** By the name of a secret file: a tag that changes when its content does. */
  readonly tags: ReadonlyMap<string, string>
}

export function publicIdentity(identity: Identity, files: ReadonlyMap<string, Secret>): PublicIdentity {
  const { authorities, serviceAccount } = identity
  const key = tagKey(identity)
  return {
    id: identity.id,
    authorities: {
      kubernetes: authorities.kubernetes.certificate,
      etcd: authorities.etcd.certificate,
      frontProxy: authorities.frontProxy.certificate,
    },
    serviceAccountKey: serviceAccount.publicKey,
    tags: new Map([...files].map(([name, content]) => [name, tag(key, name, content)])),
  }
}

/** Keyed, because a plain digest of a short password tells the password to whoever has time to guess. */
function tag(key: Uint8Array, name: string, content: Secret): string {
  const mac = createHmac('sha256', key).update(`${name}\n`).update(content.reveal())
  return mac.digest('hex').slice(0, 32)
}

function tagKey({ id, authorities }: Identity): Uint8Array {
  const root = authorities.etcd.privateKey.reveal()
  return new Uint8Array(hkdfSync('sha256', root, id, 'hyperkube tags of secret files', 32))
}
