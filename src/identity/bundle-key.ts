import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import { lastingKeys } from './stable-keys.ts'
import type { Identity } from './identity.ts'

/** What stands before the seed of a key of Ed25519 where keys of all kinds are written. */
const seedHead = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface BundleKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** What bundles of a cluster are signed with. Whoever can open the identity has it, and nothing else need be kept. */
export function bundleKey(identity: Identity): BundleKey {
  const seed = lastingKeys(identity).bundles.reveal()
  const privateKey = createPrivateKey({ key: Buffer.concat([seedHead, seed]), format: 'der', type: 'pkcs8' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
