import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { Identity } from './identity.ts'

/** PKCS#8 prefix of an Ed25519 private key; the 32-byte seed follows. */
const pkcs8Prefix = Buffer.from('302e020100300506032b657004220420', 'hex')

interface SigningKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/**
 * Builds the key that signs bundles and snapshots of a cluster. Its seed comes from the identity, so no
 * separate key file is needed.
 */
export function buildSigningKey({ operatorKeys }: Identity): SigningKey {
  const privateKey = createPrivateKey({
    key: Buffer.concat([pkcs8Prefix, operatorKeys.signing.reveal()]),
    format: 'der',
    type: 'pkcs8',
  })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
