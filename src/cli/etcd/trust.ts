import type { Identity } from '../../identity/identity.ts'
import { unsealIdentity } from '../../identity/seal.ts'
import { buildSigningKey } from '../../identity/signing-key.ts'
import { readKeyFile } from '../../identity/store.ts'
import type { SnapshotTrust } from '../../snapshot/open.ts'
import type { ClusterFiles } from '../../workspace/context.ts'
import { buildIdentityPaths } from '../../workspace/load-identity.ts'
import type { CommandContext } from '../command/command.ts'

/**
 * Trusts snapshots that belong to this cluster and whose sealed identity can be opened with the key of this
 * cluster.
 */
export async function loadSnapshotTrust(
  context: CommandContext,
  options: ClusterFiles,
  { id, metadata }: Identity,
): Promise<SnapshotTrust> {
  const key = await readKeyFile(context.privateFiles, buildIdentityPaths(context, options, metadata.name).key)
  return { id, ...buildSigner(async (sealed) => unsealIdentity(sealed, key)) }
}

/**
 * Trusts any snapshot whose identity the key can open. Needed if only a snapshot and a key are left of a
 * cluster.
 */
export async function loadKeyTrust(
  { privateFiles }: Pick<CommandContext, 'privateFiles'>,
  file: string,
): Promise<SnapshotTrust> {
  const key = await readKeyFile(privateFiles, file)
  return { id: undefined, ...buildSigner(async (sealed) => unsealIdentity(sealed, key)) }
}

/** Opens the identity inside a snapshot. */
export async function openSnapshotIdentity(
  context: CommandContext,
  options: ClusterFiles,
  { metadata }: Identity,
  sealed: string,
): Promise<Identity> {
  const { key } = buildIdentityPaths(context, options, metadata.name)
  return unsealIdentity(sealed, await readKeyFile(context.privateFiles, key))
}

function buildSigner(openIdentity: (sealed: string) => Promise<Identity>): Pick<SnapshotTrust, 'open'> {
  return {
    async open(sealed) {
      const signer = await openIdentity(sealed)
      return { id: signer.id, publicKey: buildSigningKey(signer).publicKey }
    },
  }
}
