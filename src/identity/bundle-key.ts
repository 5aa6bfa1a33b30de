import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto'
import type { Identity } from './identity.ts'

/** What stands before the seed of a key of Ed25519 where keys of all kinds are written. */
const seedHead = Buffer.from('302e020100300506032b657004220420', 'hex')

export interface BundleKey {
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

/** What bundles of a cluster are signed with. Whoever can open the identity has it, and nothing else need be kept. */
export function bundleKey({ id, authorities }: Identity): BundleKey {
  const root = authorities.etcd.privateKey.reveal()
  const seed = Buffer.from(hkdfSync('sha256', root, id, 'hyperkube signatures of bundles', 32))
  const privateKey = createPrivateKey({ key: Buffer.concat([seedHead, seed]), format: 'der', type: 'pkcs8' })
  return { privateKey, publicKey: createPublicKey(privateKey) }
}
