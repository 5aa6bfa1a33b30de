import { join } from 'node:path'
import type { Identity } from '../identity/identity.ts'
import { readIdentity, readKeyFile, writeIdentity } from '../identity/store.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { fileFlag, identityFile } from './cluster-paths.ts'
import type { Context, GlobalOptions } from './command.ts'
import { loadCluster } from './load-cluster.ts'

export type IdentityOptions = Pick<GlobalOptions, 'file' | 'key'>

export interface IdentityPaths {
  readonly identity: string
  readonly key: string
}

/**
 * The key is named after the cluster and not after its file, because it lies apart from both: whoever has only the two
 * files from git knows from them where it belongs.
 */
export function identityPaths(
  { configDirectory }: Pick<Context, 'configDirectory'>,
  { file, key }: IdentityOptions,
  name: string,
): IdentityPaths {
  return {
    identity: identityFile(file),
    key: key ?? join(configDirectory(), 'hyperkube', 'keys', `${name}.key`),
  }
}

/** The identity of the cluster that a command is about. */
export async function loadIdentity(context: Context, options: IdentityOptions): Promise<Identity> {
  const { cluster } = await loadCluster(context, options.file)
  if (cluster !== undefined) return openIdentity(context, options, cluster.metadata.name)
  throw new HyperkubeError('SPEC_NOT_VALID', `something is wrong with ${options.file}`, {
    hint: `hyperkube validate -f ${options.file}`,
  })
}

/** The same for those who know the cluster's name. */
export async function openIdentity(
  context: Context,
  options: IdentityOptions,
  name: string,
): Promise<Identity> {
  const paths = identityPaths(context, options, name)
  if (!(await context.exists(paths.identity))) {
    throw missing('IDENTITY_NOT_READ', paths.identity, [
      `git checkout -- ${paths.identity}, or from a backup`,
      `for a new cluster: hyperkube init${fileFlag(options.file)}`,
    ])
  }
  if (!(await context.exists(paths.key))) {
    throw missing('IDENTITY_KEY_NOT_READ', paths.key, [
      'bring the copy that you keep of it there',
      'or the same command with --key FILE',
    ])
  }
  const key = await readKeyFile(context.privateFiles, paths.key)
  const identity = await readIdentity(context.privateFiles, paths.identity, key).catch((error: unknown) => {
    throw explained(error, paths)
  })
  if (identity.metadata.name !== name) throw ofAnother(identity, name, options, paths)
  return identity
}

/**
 * Keeps what was learned: the keys of hosts that were met for the first time. All else stays as it is on disk: what a
 * command wishes may not have been agreed to yet.
 */
export async function saveHostKeys(
  context: Context,
  options: IdentityOptions,
  { metadata, hostKeys }: Pick<Identity, 'metadata' | 'hostKeys'>,
): Promise<void> {
  const stored = await openIdentity(context, options, metadata.name)
  await saveIdentity(context, options, { ...stored, hostKeys })
}

/** Keeps an identity as a whole. */
export async function saveIdentity(
  context: Context,
  options: IdentityOptions,
  identity: Identity,
): Promise<void> {
  const paths = identityPaths(context, options, identity.metadata.name)
  const key = await readKeyFile(context.privateFiles, paths.key)
  await writeIdentity(context.privateFiles, paths.identity, identity, key)
}

function missing(code: string, path: string, hints: readonly string[]): HyperkubeError {
  return new HyperkubeError(code, `${path} does not exist`, { hint: hints.join('; ') })
}

/** What the identity says of itself names no file. */
function explained(error: unknown, { identity, key }: IdentityPaths): unknown {
  if (!(error instanceof HyperkubeError) || error.code === 'IDENTITY_NOT_READ') return error
  const { code, message, hint } = error
  if (code === 'IDENTITY_WRONG_KEY') {
    return new HyperkubeError(code, `${key} is not the key of ${identity}`, { hint: '--key names another' })
  }
  return new HyperkubeError(code, `${identity}: ${message}`, hint === undefined ? {} : { hint })
}

function ofAnother(
  { metadata }: Identity,
  name: string,
  { file }: IdentityOptions,
  { identity }: IdentityPaths,
): HyperkubeError {
  return new HyperkubeError(
    'IDENTITY_OF_ANOTHER',
    `${identity} belongs to the cluster ${metadata.name}, not to ${name}`,
    {
      hint: `a cluster keeps its name for life: set metadata.name in ${file} to ${metadata.name}, or use -f`,
    },
  )
}
