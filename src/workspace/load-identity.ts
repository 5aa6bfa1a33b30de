import { join } from 'node:path'
import type { Identity } from '../identity/identity.ts'
import { readIdentity, readKeyFile, writeIdentity } from '../identity/store.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { formatFileFlag, buildIdentityPath } from './cluster-paths.ts'
import type { ClusterFiles, WorkspaceContext } from './context.ts'
import { loadCluster } from './load-cluster.ts'

export interface IdentityPaths {
  readonly identity: string
  readonly key: string
}

/**
 * Builds the paths of the identity and its key. The key file is outside the cluster's directory and is named
 * after the cluster. An operator who has only the files from git can therefore derive the path of the key.
 */
export function buildIdentityPaths(
  { configDirectory }: Pick<WorkspaceContext, 'configDirectory'>,
  { file, key }: ClusterFiles,
  name: string,
): IdentityPaths {
  return {
    identity: buildIdentityPath(file),
    key: key ?? join(configDirectory(), 'hyperkube', 'keys', `${name}.key`),
  }
}

/** Loads the identity of the cluster that cluster.yml describes. */
export async function loadIdentity(context: WorkspaceContext, options: ClusterFiles): Promise<Identity> {
  const { cluster } = await loadCluster(context, options.file)
  if (cluster !== undefined) return openIdentity(context, options, cluster.metadata.name)
  throw new HyperkubeError('SPEC_NOT_VALID', `${options.file} has errors`, {
    hint: `show the errors: hyperkube validate -f ${options.file}`,
  })
}

/** Opens the identity of the cluster with this name. */
export async function openIdentity(
  context: Pick<WorkspaceContext, 'exists' | 'privateFiles' | 'configDirectory'>,
  options: ClusterFiles,
  name: string,
): Promise<Identity> {
  const paths = buildIdentityPaths(context, options, name)
  if (!(await context.exists(paths.identity))) {
    throw buildMissingError('IDENTITY_NOT_READ', paths.identity, [
      `restore it from git or a backup: git checkout -- ${paths.identity}`,
      `for a new cluster: hyperkube init${formatFileFlag(options.file)}`,
    ])
  }
  if (!(await context.exists(paths.key))) {
    throw buildMissingError('IDENTITY_KEY_NOT_READ', paths.key, [
      `copy your backup of the key to ${paths.key}`,
      'or run the same command with --key FILE',
    ])
  }
  const key = await readKeyFile(context.privateFiles, paths.key)
  const identity = await readIdentity(context.privateFiles, paths.identity, key).catch((error: unknown) => {
    throw addFileNames(error, paths)
  })
  if (identity.metadata.name !== name) throw buildMismatchError(identity, name, options, paths)
  return identity
}

/**
 * Saves newly learned host keys. Everything else in the stored identity is kept, because the caller's
 * identity may contain changes that must not be saved yet.
 */
export async function saveHostKeys(
  context: WorkspaceContext,
  options: ClusterFiles,
  { metadata, hostKeys }: Pick<Identity, 'metadata' | 'hostKeys'>,
): Promise<void> {
  const stored = await openIdentity(context, options, metadata.name)
  await saveIdentity(context, options, { ...stored, hostKeys })
}

export async function saveIdentity(
  context: WorkspaceContext,
  options: ClusterFiles,
  identity: Identity,
): Promise<void> {
  const paths = buildIdentityPaths(context, options, identity.metadata.name)
  const key = await readKeyFile(context.privateFiles, paths.key)
  await writeIdentity(context.privateFiles, paths.identity, identity, key)
}

function buildMissingError(code: string, path: string, hints: readonly string[]): HyperkubeError {
  return new HyperkubeError(code, `${path} does not exist`, { hint: hints.join('; ') })
}

/** Adds file names to an error, because the identity module does not know them. */
function addFileNames(error: unknown, { identity, key }: IdentityPaths): unknown {
  if (!(error instanceof HyperkubeError) || error.code === 'IDENTITY_NOT_READ') return error
  const { code, message, hint } = error
  if (code === 'IDENTITY_WRONG_KEY') {
    return new HyperkubeError(code, `${key} is not the key of ${identity}`, {
      hint: 'run the same command with the right key: --key FILE',
    })
  }
  return new HyperkubeError(code, `${identity}: ${message}`, hint === undefined ? {} : { hint })
}

function buildMismatchError(
  { metadata }: Identity,
  name: string,
  { file }: ClusterFiles,
  { identity }: IdentityPaths,
): HyperkubeError {
  return new HyperkubeError(
    'IDENTITY_MISMATCH',
    `${identity} belongs to the cluster ${metadata.name}, not to ${name}`,
    {
      hint: `a cluster cannot be renamed: set metadata.name in ${file} to ${metadata.name}, or select another file with -f FILE`,
    },
  )
}
