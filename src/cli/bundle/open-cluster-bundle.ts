import type { KeyObject } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { type OpenBundle, openBundle } from '../../bundle/open.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext } from '../command.ts'

/** Resolves the path of the bundle relative to cluster.yml. Undefined if the cluster has no bundle. */
export function findBundlePath(clusterFile: string, { spec }: Cluster): string | undefined {
  const { artifacts } = spec
  return artifacts !== 'upstream' && 'bundle' in artifacts
    ? resolve(dirname(clusterFile), artifacts.bundle)
    : undefined
}

/** Opens the bundle of a cluster. Undefined if the cluster has no bundle. The caller must dispose it. */
export async function openClusterBundle(
  { bundles }: Pick<CommandContext, 'bundles'>,
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
  return new HyperkubeError(
    'BUNDLE_NOT_READ',
    `${path} ${isMissing ? 'does not exist' : 'could not be read'}`,
    {
      hint: 'create it on a machine with internet access: hyperkube bundle create; spec.artifacts.bundle says where it is',
      ...(isMissing ? {} : { cause }),
    },
  )
}
