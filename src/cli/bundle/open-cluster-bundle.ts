import type { KeyObject } from 'node:crypto'
import { dirname, resolve } from 'node:path'
import { type OpenBundle, openBundle } from '../../bundle/open.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context } from '../command.ts'

/** Where the bundle of a cluster is, if its files come from one: it is named as from beside cluster.yml. */
export function bundleFile(clusterFile: string, { spec }: Cluster): string | undefined {
  const { artifacts } = spec
  return artifacts !== 'upstream' && 'bundle' in artifacts
    ? resolve(dirname(clusterFile), artifacts.bundle)
    : undefined
}

/** The bundle that a cluster's files come from; nothing when they come from elsewhere. To be closed. */
export async function openClusterBundle(
  { bundles }: Pick<Context, 'bundles'>,
  clusterFile: string,
  cluster: Cluster,
  key?: KeyObject,
): Promise<(OpenBundle & AsyncDisposable) | undefined> {
  const path = bundleFile(clusterFile, cluster)
  if (path === undefined) return undefined
  const file = await bundles.open(path).catch((cause: unknown) => {
    throw bundleNotRead(path, cause)
  })
  try {
    const bundle = await openBundle(file, key)
    return { ...bundle, [Symbol.asyncDispose]: async () => file[Symbol.asyncDispose]() }
  } catch (error) {
    await file[Symbol.asyncDispose]()
    throw error
  }
}

export function bundleNotRead(path: string, cause: unknown): HyperkubeError {
  const missing = hasCode(cause, 'ENOENT')
  return new HyperkubeError(
    'BUNDLE_NOT_READ',
    `${path} ${missing ? 'does not exist' : 'could not be read'}`,
    {
      hint: 'make it where there is a way out: hyperkube bundle create; spec.artifacts.bundle says where it is',
      ...(missing ? {} : { cause }),
    },
  )
}
