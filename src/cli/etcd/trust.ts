import { bundleKey } from '../../identity/bundle-key.ts'
import type { Identity } from '../../identity/identity.ts'
import { open } from '../../identity/seal.ts'
import { readKeyFile } from '../../identity/store.ts'
import type { Trust } from '../../snapshot/open.ts'
import type { Context } from '../command.ts'
import { type IdentityOptions, identityPaths } from '../load-identity.ts'

/** Snapshots of a cluster are those whose identity is its own, and opens with its key. */
export async function trustIn(
  context: Context,
  options: IdentityOptions,
  { id, metadata }: Identity,
): Promise<Trust> {
  const key = await readKeyFile(context.privateFiles, identityPaths(context, options, metadata.name).key)
  return {
    id,
    async open(sealed) {
      const signer = await open(sealed, key)
      return { id: signer.id, publicKey: bundleKey(signer).publicKey }
    },
  }
}
