import { hkdfSync } from 'node:crypto'
import { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'

export type LastingKeys = NonNullable<Identity['lasting']>

/** What bundles are signed and secret files are tagged with. It stays the same when the authority is replaced. */
export function lastingKeys({ id, authorities, lasting }: Identity): LastingKeys {
  if (lasting !== undefined) return lasting
  const root = authorities.etcd.privateKey.reveal()
  const key = (name: string, use: string): Secret =>
    new Secret(name, new Uint8Array(hkdfSync('sha256', root, id, use, 32)))
  return {
    bundles: key('seed of the key of bundles', 'hyperkube signatures of bundles'),
    tags: key('key of tags', 'hyperkube tags of secret files'),
  }
}
