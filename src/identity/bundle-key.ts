import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { deriveStableKeys } from './stable-keys.ts'
import type { Identity } from './identity.ts'

/** PKCS#8 prefix of an Ed25519 private key; the 32-byte seed follows. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface BundleKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/**
 * Derives the key that signs bundles of a cluster. It is derived from the identity, so it is not stored
 * separately.
 */
export function deriveBundleKey(identity: Identity): BundleKey {
  const seed = deriveStableKeys(identity).bundles.reveal()
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, seed]),
    format: 'der',
    type: 'pkcs8',
  })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
