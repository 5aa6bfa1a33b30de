import { hkdfSync } from 'node:crypto'
import { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'

export type StableKeys = NonNullable<Identity['stableKeys']>

/**
 * Returns the keys that sign bundles and tag secret files. They stay the same when the etcd CA is replaced.
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
