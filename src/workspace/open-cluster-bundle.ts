import type { KeyObject } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { type OpenBundle, openBundle } from '../bundle/open.ts'
import { buildSigningKey } from '../identity/signing-key.ts'
import { hasCode, HyperkubeError } from '../kit/errors.ts'
import type { ReadBundledFile } from '../lifecycle/agents/agent-release.ts'
import type { ClusterInputs } from '../lifecycle/inputs/cluster-inputs.ts'
import type { Cluster } from '../spec/cluster.ts'
import type { WorkspaceContext } from './context.ts'

/** Resolves the path of the bundle relative to cluster.yml. Undefined if the cluster has no bundle. */
export function findBundlePath(clusterFile: string, { spec }: Cluster): string | undefined {
  const { artifacts } = spec
  return artifacts !== 'upstream' && 'bundle' in artifacts
    ? resolve(dirname(clusterFile), artifacts.bundle)
    : undefined
}

/** Opens the bundle of a cluster. Undefined if the cluster has no bundle. The caller must dispose it. */
export async function openClusterBundle(
  { bundles }: Pick<WorkspaceContext, 'bundles'>,
  clusterFile: string,
  cluster: Cluster,
  key?: KeyObject,
): Promise<(OpenBundle & AsyncDisposable) | undefined> {
  const path = findBundlePath(clusterFile, cluster)
  if (path === undefined) return undefined
  const file = await bundles.open(path).catch((cause: unknown) => {
    throw buildBundleReadError(path, cause)
  })
  try {
    const bundle = await openBundle(file, key)
    return { ...bundle, [Symbol.asyncDispose]: async () => file[Symbol.asyncDispose]() }
  } catch (error) {
    await file[Symbol.asyncDispose]()
    throw error
  }
}

export function buildBundleReadError(path: string, cause: unknown): HyperkubeError {
  const isMissing = hasCode(cause, 'ENOENT')
  return new HyperkubeError('BUNDLE_NOT_READ', `${path} ${isMissing ? 'does not exist' : 'cannot be read'}`, {
    hint: 'create the bundle on a machine with internet access: hyperkube bundle create; spec.artifacts.bundle sets its path',
    ...(isMissing ? {} : { cause }),
  })
}

/**
 * Creates a function that reads single files of the cluster's bundle. Undefined if the cluster has no bundle.
 */
export function createBundledFileReader(
  context: Pick<WorkspaceContext, 'bundles'>,
  clusterFile: string,
  { cluster, identity }: Pick<ClusterInputs, 'cluster' | 'identity'>,
): ReadBundledFile | undefined {
  if (findBundlePath(clusterFile, cluster) === undefined) return undefined
  return async (sha256) => {
    const { publicKey } = buildSigningKey(identity)
    await using bundle = await openClusterBundle(context, clusterFile, cluster, publicKey)
    const member = bundle?.manifest.members.find((candidate) => candidate.sha256 === sha256)
    if (bundle === undefined || member === undefined) throw buildMissingFileError()
    return await buffer(bundle.content(member))
  }
}

function buildMissingFileError(): HyperkubeError {
  return new HyperkubeError(
    'BUNDLE_INCOMPLETE',
    'the bundle lacks the file that starts the agent on Windows hosts',
    {
      hint: 'create the bundle again from the same cluster.lock, on a machine with internet access: hyperkube bundle create',
    },
  )
}
