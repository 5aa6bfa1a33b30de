import { dirname } from 'node:path'
import { lockIn } from '../../bundle/lock.ts'
import { catalogFor } from '../../catalog/catalog.ts'
import type { Fetcher } from '../../catalog/fetcher.ts'
import { type Lock, lockText } from '../../catalog/lock.ts'
import type { Registry } from '../../catalog/registry/registry.ts'
import { type LockWish, resolveLock } from '../../catalog/resolve-lock.ts'
import { isUnencrypted } from '../../catalog/artifact-source.ts'
import type { Arch, Target } from '../../catalog/artifact-target.ts'
import { bundleKey } from '../../identity/bundle-key.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { printable } from '../../kit/printable.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { openClusterBundle } from '../bundle/open-cluster-bundle.ts'
import type { Context, Output } from '../command.ts'
import { hasPlainMirror, registryFor } from '../images/cluster-registry.ts'
import { wantedImages } from '../images/select-images.ts'
import { type IdentityOptions, openIdentity } from '../load-identity.ts'

/** The kinds of hosts that a cluster has. */
export function targetsOf({ spec }: Cluster, arches: readonly Arch[]): readonly Target[] {
  const has = (os: Target['os']): boolean => spec.hosts.some((host) => host.os === os)
  return [
    ...(has('linux') ? arches.map((one): Target => ({ os: 'linux', arch: one })) : []),
    ...(has('windows') ? [{ os: 'windows', arch: 'amd64' } as const] : []),
  ]
}

/** Asks for the digest of everything. A bundle has been looked up already, by whoever made it: it is asked, and nobody else. */
export async function lookUpLock(
  context: Context,
  options: IdentityOptions,
  cluster: Cluster,
  targets: readonly Target[],
): Promise<Lock> {
  const release = catalogFor(cluster.spec.kubernetes)
  const images = wantedImages(cluster, release.images)
  const { artifacts } = cluster.spec
  if (artifacts === 'upstream' || !('bundle' in artifacts)) {
    return lookUp(context, cluster, { version: release.kubernetes, targets, source: artifacts, images })
  }
  const { publicKey } = bundleKey(await openIdentity(context, options, cluster.metadata.name))
  await using bundle = await openClusterBundle(context, options.file, cluster, publicKey)
  if (bundle === undefined) throw new Error('a bundle is named, and none is opened')
  return lockIn(bundle.manifest, release, targets, images)
}

async function lookUp(context: Context, cluster: Cluster, wish: LockWish): Promise<Lock> {
  const { stderr, fetcher, signal } = context
  if (isUnencrypted(wish.source) || hasPlainMirror(cluster)) {
    stderr.write('warning: the mirror is not encrypted; whoever is on the way can choose what is pinned\n')
  }
  const registry = watchedRegistry(registryFor(context, cluster), stderr)
  try {
    return await resolveLock(wish, { fetcher: watched(fetcher, stderr), registry }, signal)
  } catch (error) {
    if (!(error instanceof AggregateError)) throw error
    throw new HyperkubeError('LOCK_NOT_RESOLVED', 'not all could be looked up; nothing was written', {
      hint: 'spec.artifacts says where files come from, spec.registries where images do',
      cause: error,
    })
  }
}

function watched(fetcher: Fetcher, stderr: Output): Fetcher {
  return {
    async text(url, limit, signal) {
      stderr.write(printable(`reading ${url}\n`))
      return fetcher.text(url, limit, signal)
    },
    async sha256(url, limit, signal) {
      stderr.write(printable(`downloading ${url}: upstream publishes no checksum of it\n`))
      return fetcher.sha256(url, limit, signal)
    },
  }
}

function watchedRegistry(registry: Registry, stderr: Output): Registry {
  return {
    ...registry,
    async manifest(image, signal) {
      const { registry: host, repository, tag } = image
      stderr.write(printable(`reading the digest of ${host}/${repository}:${tag}\n`))
      return registry.manifest(image, signal)
    },
  }
}

export async function writeLock(
  { replaceFile, stderr }: Context,
  file: string,
  content: Lock,
): Promise<void> {
  await replaceFile(file, lockText(content), 0o644).catch((cause: unknown) => {
    throw new HyperkubeError('LOCK_NOT_WRITTEN', `${file} could not be written`, {
      hint: `look at ls -ld ${dirname(file)}`,
      cause,
    })
  })
  stderr.write(`wrote ${file}; commit it\n`)
}
