import { createHmac } from 'node:crypto'
import type { Secret } from '../pki/secret.ts'
import type { AdoptionSource, Identity } from './identity.ts'
import { trustedCas, trustedServiceAccountKeys } from './trusted-keys.ts'

/** The part of an identity that is not secret. It is sufficient for making plans. */
export interface PublicIdentity {
  readonly id: string
  /** Trusted certificates of each CA as concatenated PEM. The first one belongs to the signing key. */
  readonly cas: {
    readonly kubernetes: string
    readonly etcd: string
    readonly frontProxy: string
  }
  /** Certificate of the key that currently signs, for programs that accept only one CA certificate. */
  readonly kubernetesSigner: string
  /** All trusted public keys for service account tokens, as concatenated PEM. */
  readonly serviceAccountKeys: string
  /** Tags of secret files. The key is the name of the file; the tag changes when the content changes. */
  readonly tags: ReadonlyMap<string, string>
  /** Set if another tool created the cluster. */
  readonly adoption?: PublicAdoption
}

/** What plans of an adopted cluster need to know. */
export interface PublicAdoption {
  readonly from: AdoptionSource
  /** Names of the hosts that the other tool installed; undefined for all hosts. */
  readonly hosts: readonly string[] | undefined
  /** True once hosts cannot return to the other tool any more. */
  readonly committed: boolean
}

export function toPublicIdentity(identity: Identity, files: ReadonlyMap<string, Secret>): PublicIdentity {
  const { cas, serviceAccount, adoption } = identity
  return {
    id: identity.id,
    cas: {
      kubernetes: trustedCas(cas.kubernetes),
      etcd: trustedCas(cas.etcd),
      frontProxy: trustedCas(cas.frontProxy),
    },
    kubernetesSigner: cas.kubernetes.certificate,
    serviceAccountKeys: trustedServiceAccountKeys(serviceAccount),
    tags: new Map([...files].map(([name, content]) => [name, computeTag(identity, name, content)])),
    ...(adoption === undefined
      ? {}
      : {
          adoption: {
            from: adoption.from,
            hosts: adoption.hosts,
            committed: adoption.committed !== undefined,
          },
        }),
  }
}

/**
 * Computes the tag of a secret file. The tag depends on a secret key, because a short password could be
 * guessed offline from a plain digest.
 */
export function computeTag(
  { operatorKeys }: Pick<Identity, 'operatorKeys'>,
  name: string,
  content: Secret,
): string {
  const mac = createHmac('sha256', operatorKeys.tags.reveal()).update(`${name}\n`).update(content.reveal())
  return mac.digest('hex').slice(0, 32)
}
