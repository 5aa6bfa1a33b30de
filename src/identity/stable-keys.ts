import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto'
import { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'

type StableKeys = NonNullable<Identity['stableKeys']>

/**
 * Returns the keys that sign bundles and tag secret files. They are derived from the first etcd CA. When that
 * CA is replaced, they are stored in the identity (`stableKeys`), so that they stay the same.
 */
export function deriveStableKeys({ id, cas, stableKeys }: Identity): StableKeys {
  if (stableKeys !== undefined) return stableKeys
  const root = cas.etcd.privateKey.reveal()
  const key = (name: string, use: string): Secret =>
    new Secret(name, new Uint8Array(hkdfSync('sha256', root, id, use, 32)))
  return {
    bundles: key('seed of the key of bundles', 'hyperkube signatures of bundles'),
    tags: key('key of tags', 'hyperkube tags of secret files'),
  }
}

/** PKCS#8 prefix of an Ed25519 private key; the 32-byte seed follows. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

interface BundleKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/**
 * Builds the key that signs bundles of a cluster. Its seed comes from the identity, so no separate key file
 * is needed.
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
