import { dirname } from 'node:path'
import { createIdentity } from '../../identity/identity.ts'
import type { FileKey } from '../../identity/sealing-key.ts'
import { seal } from '../../identity/seal.ts'
import { createKeyFile, readKeyFile } from '../../identity/store.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import type { Context } from '../command.ts'
import { type IdentityOptions, identityPaths, type IdentityPaths, openIdentity } from '../load-identity.ts'

/** What there is of a cluster's identity before anything is written, and what must be made. */
export interface IdentityState {
  readonly name: string
  readonly paths: IdentityPaths
  /** Whether the identity is there, and its key opens it. */
  readonly whole: boolean
  /** A key that is there already, for the identity that is not. */
  readonly key: FileKey | undefined
}

/** Looks, and writes nothing. Whatever is there and does not fit ends it here. */
export async function findIdentity(
  context: Context,
  options: IdentityOptions,
  name: string,
): Promise<IdentityState> {
  const paths = identityPaths(context, options, name)
  if (await context.exists(paths.identity)) {
    await openIdentity(context, options, name)
    return { name, paths, whole: true, key: undefined }
  }
  if (!(await context.exists(paths.key))) return { name, paths, whole: false, key: undefined }
  // Who names a key that is there wants it: one for many clusters, or that of an init which was cut short.
  if (options.key === undefined) throw keyExists(paths.key, name)
  return { name, paths, whole: false, key: await readKeyFile(context.privateFiles, paths.key) }
}

function keyExists(path: string, name: string): HyperkubeError {
  return new HyperkubeError(
    'IDENTITY_KEY_EXISTS',
    `${path} exists already: it is the key of another cluster called ${name}, or of an init that was cut short`,
    { hint: `--key FILE makes another key; --key ${path} takes this one` },
  )
}

/**
 * Makes what is missing, and answers with the files. The key comes first: alone it does no harm and can be used again,
 * where an identity without its key could never be opened.
 */
export async function makeIdentity(
  context: Context,
  { key: chosen }: IdentityOptions,
  { name, paths, whole, key: found }: IdentityState,
): Promise<readonly string[]> {
  if (whole) return []
  const identity = await createIdentity(name, context.now())
  // The last moment to stop: from here on it takes milliseconds.
  context.signal.throwIfAborted()
  if (found === undefined && chosen === undefined) await makeDirectory(context, dirname(paths.key))
  const key = found ?? (await createKeyFile(context.privateFiles, paths.key))
  await context.privateFiles.create(paths.identity, await seal(identity, key)).catch((cause: unknown) => {
    throw new HyperkubeError('IDENTITY_NOT_WRITTEN', `${paths.identity} could not be written`, {
      hint: `its key is there; the same command with --key ${paths.key} goes on`,
      cause,
    })
  })
  return found === undefined ? [paths.key, paths.identity] : [paths.identity]
}

async function makeDirectory({ makePrivateDirectory }: Context, path: string): Promise<void> {
  await makePrivateDirectory(path).catch((cause: unknown) => {
    throw new HyperkubeError('IDENTITY_KEY_NOT_WRITTEN', `the directory ${path} could not be made`, {
      hint: '--key FILE puts the key elsewhere',
      cause,
    })
  })
}
