import type { ClusterFiles } from '../../workspace/context.ts'
import { dirname } from 'node:path'
import { createIdentity, type Identity } from '../../identity/identity.ts'
import type { FileKey } from '../../identity/sealing-key.ts'
import { sealIdentity } from '../../identity/seal.ts'
import { createKeyFile, readKeyFile } from '../../identity/store.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { CommandContext } from '../command/command.ts'
import { buildIdentityPaths, type IdentityPaths, openIdentity } from '../../workspace/load-identity.ts'

/** State of the identity files of a cluster. */
export interface IdentityStatus {
  readonly name: string
  readonly paths: IdentityPaths
  /** Whether the identity exists and its key opens it. */
  readonly complete: boolean
  /** An existing key for which there is no identity yet. */
  readonly key: FileKey | undefined
}

/** Checks the identity files without writing anything. Fails if existing files do not belong together. */
export async function checkIdentityFiles(
  context: CommandContext,
  options: ClusterFiles,
  name: string,
): Promise<IdentityStatus> {
  const paths = buildIdentityPaths(context, options, name)
  if (await context.exists(paths.identity)) {
    await openIdentity(context, options, name)
    return { name, paths, complete: true, key: undefined }
  }
  if (!(await context.exists(paths.key))) return { name, paths, complete: false, key: undefined }
  // An existing key is used only if --key names it, because it may belong to another cluster.
  if (options.key === undefined) throw buildKeyExistsError(paths.key, name)
  return { name, paths, complete: false, key: await readKeyFile(context.privateFiles, paths.key) }
}

function buildKeyExistsError(path: string, name: string): HyperkubeError {
  return new HyperkubeError(
    'IDENTITY_KEY_EXISTS',
    `${path} already exists: it is the key of another cluster named ${name}, or of an interrupted init`,
    {
      hint: `to use this key, run the same command with --key ${path}; to create another key: --key NEW_FILE`,
    },
  )
}

/**
 * Creates the missing files and returns their paths. The key is written first: a key alone can be used again,
 * but an identity without its key could never be opened. `create` builds the identity.
 */
export async function createIdentityFiles(
  context: CommandContext,
  { key: givenKey }: ClusterFiles,
  { name, paths, complete, key: existingKey }: IdentityStatus,
  create: () => Promise<Identity> = async () => createIdentity(name, context.now()),
): Promise<readonly string[]> {
  if (complete) return []
  const identity = await create()
  // Last point at which an interrupt can stop the command; the rest takes milliseconds.
  context.signal.throwIfAborted()
  if (existingKey === undefined && givenKey === undefined)
    await createKeyDirectory(context, dirname(paths.key))
  const key = existingKey ?? (await createKeyFile(context.privateFiles, paths.key))
  await context.privateFiles
    .create(paths.identity, await sealIdentity(identity, key))
    .catch((cause: unknown) => {
      throw new HyperkubeError('IDENTITY_NOT_WRITTEN', `cannot write ${paths.identity}`, {
        hint: `the key was written; to continue, run the same command with --key ${paths.key}`,
        cause,
      })
    })
  return existingKey === undefined ? [paths.key, paths.identity] : [paths.identity]
}

async function createKeyDirectory({ makePrivateDirectory }: CommandContext, path: string): Promise<void> {
  await makePrivateDirectory(path).catch((cause: unknown) => {
    throw new HyperkubeError('IDENTITY_KEY_NOT_WRITTEN', `cannot create the directory ${path}`, {
      hint: 'to store the key in another directory, run the same command with --key FILE',
      cause,
    })
  })
}
