import { dirname } from 'node:path'
import { extractLock } from '../../bundle/lock.ts'
import { findKubernetesRelease } from '../../catalog/catalog.ts'
import type { Fetcher } from '../../catalog/fetcher.ts'
import { type Lock, formatLock } from '../../catalog/lock.ts'
import type { Registry } from '../../catalog/registry/registry.ts'
import { type ResolveLockOptions, resolveLock } from '../../catalog/resolve-lock.ts'
import { isUnencrypted } from '../../catalog/artifact-source.ts'
import type { Arch, ArtifactTarget } from '../../catalog/artifact-target.ts'
import { deriveBundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { toPrintable } from '../../kit/printable.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openClusterBundle } from '../bundle/open-cluster-bundle.ts'
import type { CommandContext, Output } from '../command.ts'
import { hasUnencryptedMirror, createClusterRegistry } from '../images/cluster-registry.ts'
import { selectImages } from '../images/select-images.ts'
import { type IdentityOptions, openIdentity } from '../load-identity.ts'

/** Lists the combinations of OS and architecture for which the cluster needs artifacts. */
export function listTargets({ spec }: Cluster, arches: readonly Arch[]): readonly ArtifactTarget[] {
  const hasOs = (os: ArtifactTarget['os']): boolean => spec.hosts.some((host) => host.os === os)
  return [
    ...(hasOs('linux') ? arches.map((arch): ArtifactTarget => ({ os: 'linux', arch: arch })) : []),
    ...(hasOs('windows') ? [{ os: 'windows', arch: 'amd64' } as const] : []),
  ]
}

/**
 * Resolves all digests of a cluster. They come from the bundle's own lock if there is a bundle, otherwise
 * from the network.
 */
export async function resolveClusterLock(
  context: CommandContext,
  options: IdentityOptions,
  cluster: Cluster,
  targets: readonly ArtifactTarget[],
): Promise<Lock> {
  const release = findKubernetesRelease(cluster.spec.kubernetes)
  const images = selectImages(cluster, release.images)
  const { artifacts } = cluster.spec
  if (artifacts === 'upstream' || !('bundle' in artifacts)) {
    return resolveFromNetwork(context, cluster, {
      version: release.kubernetes,
      targets,
      source: artifacts,
      images,
    })
  }
  const { publicKey } = deriveBundleKey(await openIdentity(context, options, cluster.metadata.name))
  await using bundle = await openClusterBundle(context, options.file, cluster, publicKey)
  if (bundle === undefined) throw new Error('a bundle is named, and none is opened')
  return extractLock(bundle.manifest, release, targets, images)
}

async function resolveFromNetwork(
  context: CommandContext,
  cluster: Cluster,
  options: ResolveLockOptions,
): Promise<Lock> {
  const { stderr, fetcher, signal } = context
  if (isUnencrypted(options.source) || hasUnencryptedMirror(cluster)) {
    stderr.write(
      'warning: the mirror is not encrypted; an attacker on the network can choose what is pinned\n',
    )
  }
  const registry = logRegistryReads(createClusterRegistry(context, cluster), stderr)
  try {
    return await resolveLock(options, { fetcher: logFetches(fetcher, stderr), registry }, signal)
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    throw new HyperkubeError('LOCK_NOT_RESOLVED', 'not all could be looked up; nothing was written', {
      hint: 'spec.artifacts says where files come from, spec.registries where images do',
      cause: error,
    })
  }
}

function logFetches(fetcher: Fetcher, stderr: Output): Fetcher {
  return {
    async text(url, limit, signal) {
      stderr.write(toPrintable(`reading ${url}\n`))
      return fetcher.text(url, limit, signal)
    },
    async sha256(url, limit, signal) {
      stderr.write(toPrintable(`downloading ${url}: upstream publishes no checksum of it\n`))
      return fetcher.sha256(url, limit, signal)
    },
  }
}

function logRegistryReads(registry: Registry, stderr: Output): Registry {
  return {
    ...registry,
    async manifest(image, signal) {
      const { registry: host, repository, tag } = image
      stderr.write(toPrintable(`reading the digest of ${host}/${repository}:${tag}\n`))
      return registry.manifest(image, signal)
    },
  }
}

export async function writeLock(
  { replaceFile, stderr }: CommandContext,
  file: string,
  content: Lock,
): Promise<void> {
  await replaceFile(file, formatLock(content), 0o644).catch((cause: unknown) => {
    throw new HyperkubeError('LOCK_NOT_WRITTEN', `${file} could not be written`, {
      hint: `look at ls -ld ${dirname(file)}`,
      cause,
    })
  })
  stderr.write(`wrote ${file}; commit it\n`)
}
