import { dirname, join } from 'node:path'
import { fetchBundleParts } from '../../bundle/fetch-parts.ts'
import type { BundleManifest } from '../../bundle/manifest.ts'
import { formatPublicKey } from '../../bundle/signature.ts'
import { streamBundle } from '../../bundle/write.ts'
import { checkLock } from '../../catalog/check-lock.ts'
import { findKubernetesRelease } from '../../catalog/catalog.ts'
import type { Lock } from '../../catalog/lock.ts'
import type { NetworkSource } from '../../catalog/artifact-source.ts'
import { deriveBundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/printable.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext, Invocation } from '../command.ts'
import { createClusterRegistry } from '../images/cluster-registry.ts'
import { selectImages } from '../images/select-images.ts'
import { openIdentity } from '../load-identity.ts'
import { requireLock } from '../load-lock.ts'

export interface CreatedBundle {
  readonly file: string
  /** Size of the bundle in bytes. */
  readonly size: number
  readonly manifest: BundleManifest
  readonly publicKey: string
}

/** Downloads all files and images of a cluster and writes them to one bundle. */
export async function createBundle(
  context: CommandContext,
  options: Invocation['options'],
  cluster: Cluster,
  out: string | undefined,
): Promise<CreatedBundle> {
  const { bundles, stderr, signal, web } = context
  const { name } = cluster.metadata
  const lock = selectLock(cluster, await requireLock(context, options.file))
  const key = deriveBundleKey(await openIdentity(context, options, name))
  const file = out ?? join(dirname(options.file), `${name}-${lock.kubernetes}.bundle`)
  const parts = bundles.parts(file)
  const manifest = await fetchBundleParts(
    { cluster: name, lock, source: toNetworkSource(cluster) },
    {
      web,
      registry: createClusterRegistry(context, cluster),
      parts,
      onFetch: (what) => stderr.write(toPrintable(`fetching ${what}\n`)),
    },
    signal,
  )
  stderr.write(toPrintable(`writing ${file}\n`))
  const size = await bundles.write(
    file,
    streamBundle(manifest, key.privateKey, ({ sha256 }) => parts.content(sha256)),
  )
  await parts.clear()
  return { file, size, manifest, publicKey: formatPublicKey(key.publicKey) }
}

/**
 * Returns the source of files and images. A cluster that installs from a bundle uses upstream as the source
 * of a new bundle.
 */
function toNetworkSource({ spec }: Cluster): NetworkSource {
  const { artifacts } = spec
  return artifacts !== 'upstream' && 'bundle' in artifacts ? 'upstream' : artifacts
}

/** The part of a lock that the hosts of the cluster need. */
function selectLock(cluster: Cluster, lock: Lock): Lock {
  const { spec } = cluster
  const release = findKubernetesRelease(spec.kubernetes)
  const [problem] = checkLock(lock, release, [], selectImages(cluster, release.images))
  if (problem !== undefined) {
    throw new HyperkubeError(problem.code, problem.message, { hint: 'hyperkube lock' })
  }
  const hostSystems = new Set(spec.hosts.map(({ os }) => os))
  return {
    ...lock,
    artifacts: lock.artifacts.filter(({ os }) => hostSystems.has(os)),
    images: { ...selectImages(cluster, lock.images) },
  }
}
