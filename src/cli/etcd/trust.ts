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
  return { id, ...signers(async (sealed) => open(sealed, key)) }
}

/** Where nothing of a cluster is left but a snapshot and a key: whose identity the key opens. */
export async function trustOf({ privateFiles }: Pick<Context, 'privateFiles'>, file: string): Promise<Trust> {
  const key = await readKeyFile(privateFiles, file)
  return { id: undefined, ...signers(async (sealed) => open(sealed, key)) }
}

/** The identity that is in a snapshot. */
export async function identityIn(
  context: Context,
  options: IdentityOptions,
  { metadata }: Identity,
  sealed: string,
): Promise<Identity> {
  const { key } = identityPaths(context, options, metadata.name)
  return open(sealed, await readKeyFile(context.privateFiles, key))
}

function signers(opened: (sealed: string) => Promise<Identity>): Pick<Trust, 'open'> {
  return {
    async open(sealed) {
      const signer = await opened(sealed)
      return { id: signer.id, publicKey: bundleKey(signer).publicKey }
    },
  }
}
