import { dirname, join } from 'node:path'
import { gather } from '../../bundle/fetch-parts.ts'
import type { BundleManifest } from '../../bundle/manifest.ts'
import { publicKeyText } from '../../bundle/signature.ts'
import { bundleBytes } from '../../bundle/write.ts'
import { checkLock } from '../../catalog/check-lock.ts'
import { catalogFor } from '../../catalog/catalog.ts'
import type { Lock } from '../../catalog/lock.ts'
import type { Site } from '../../catalog/artifact-source.ts'
import { bundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context, Invocation } from '../command.ts'
import { registryFor } from '../images/cluster-registry.ts'
import { wantedImages } from '../images/select-images.ts'
import { openIdentity } from '../load-identity.ts'
import { requireLock } from '../load-lock.ts'

export interface CreatedBundle {
  readonly file: string
  /** In bytes. */
  readonly size: number
  readonly manifest: BundleManifest
  readonly publicKey: string
}

/** Fetches all that a cluster is made of, and makes one file of it. */
export async function createBundle(
  context: Context,
  options: Invocation['options'],
  cluster: Cluster,
  out: string | undefined,
): Promise<CreatedBundle> {
  const { bundles, stderr, signal, web } = context
  const { name } = cluster.metadata
  const lock = lockFor(cluster, await requireLock(context, options.file))
  const key = bundleKey(await openIdentity(context, options, name))
  const file = out ?? join(dirname(options.file), `${name}-${lock.kubernetes}.bundle`)
  const parts = bundles.parts(file)
  const manifest = await gather(
    { cluster: name, lock, source: siteOf(cluster) },
    {
      web,
      registry: registryFor(context, cluster),
      parts,
      tell: (what) => stderr.write(printable(`fetching ${what}\n`)),
    },
    signal,
  )
  stderr.write(printable(`writing ${file}\n`))
  const size = await bundles.write(
    file,
    bundleBytes(manifest, key.privateKey, ({ sha256 }) => parts.content(sha256)),
  )
  await parts.clear()
  return { file, size, manifest, publicKey: publicKeyText(key.publicKey) }
}

/** A cluster whose files come from a bundle has them from upstream when one is made. */
function siteOf({ spec }: Cluster): Site {
  const { artifacts } = spec
  return artifacts !== 'upstream' && 'bundle' in artifacts ? 'upstream' : artifacts
}

/** Of a lock what the hosts of the cluster need. */
function lockFor(cluster: Cluster, lock: Lock): Lock {
  const { spec } = cluster
  const release = catalogFor(spec.kubernetes)
  const [problem] = checkLock(lock, release, [], wantedImages(cluster, release.images))
  if (problem !== undefined) {
    throw new HyperkubeError(problem.code, problem.message, { hint: 'hyperkube lock' })
  }
  const systems = new Set(spec.hosts.map(({ os }) => os))
  return {
    ...lock,
    artifacts: lock.artifacts.filter(({ os }) => systems.has(os)),
    images: { ...wantedImages(cluster, lock.images) },
  }
}
