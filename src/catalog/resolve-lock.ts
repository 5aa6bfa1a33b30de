import { parseImage, pinDigest } from '../contract/image-reference.ts'
import { mapWithConcurrency } from '../kit/concurrency.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { locateArtifact, type NetworkSource } from './artifact-source.ts'
import {
  type ArtifactTarget,
  controlPlaneArtifacts,
  helmArtifacts,
  type UpstreamArtifact,
  upstreamArtifacts,
} from './artifacts.ts'
import type { KubernetesRelease } from './catalog.ts'
import { maxChecksumFileBytes, readChecksum } from './checksum.ts'
import { describeCatalog, type Lock, type LockedArtifact, sortLock } from './lock.ts'
import { findArtifactDigest, findImageDigest, type ReleaseDigests } from './release-digests.ts'
import { windowsBuilds } from './registry/image-manifest.ts'
import type { ImageManifest, Registry } from './registry/registry.ts'
import type { Fetcher } from './fetcher.ts'

const maxConcurrent = 4
/** Maximum size of a file in bytes, about three times the size of the largest program. */
const maxArtifactBytes = 500_000_000

/** What an operator can do about a digest that this release does not expect. */
export const digestRefusedHint =
  'use another source in spec.artifacts or spec.registries; for a mirror with your own builds set: artifacts: { mirror: URL, digests: mirror }'

export interface ResolveLockOptions {
  readonly release: KubernetesRelease
  /** Release whose control plane programs are locked too, for a held upgrade. */
  readonly held?: KubernetesRelease | undefined
  /** Operating systems and architectures to lock files for. */
  readonly targets: readonly ArtifactTarget[]
  readonly source: NetworkSource
  /** Whether Helm is locked too, because the cluster has charts. */
  readonly helm?: boolean
  /** Image references by name. Default: all images of the release. */
  readonly images?: Readonly<Record<string, string>>
  /** Digests that the source must have. Undefined if the operator's mirror has builds of its own. */
  readonly digests?: ReleaseDigests | undefined
}

export interface ResolveLockDeps {
  readonly fetcher: Fetcher
  readonly registry: Registry
}

/**
 * Finds the digest of every file and image that these targets need. If any download fails, throws one error
 * with all causes.
 */
export async function resolveLock(
  { release, held, targets, source, helm = false, images: requestedImages, digests }: ResolveLockOptions,
  { fetcher, registry }: ResolveLockDeps,
  signal: AbortSignal,
): Promise<Lock> {
  const artifacts: LockedArtifact[] = []
  const heldArtifacts: LockedArtifact[] = []
  const images: Record<string, string> = {}
  const builds: Record<string, number[]> = {}
  const hasWindows = targets.some(({ os }) => os === 'windows')
  // Compute all URLs first, so that an invalid source is reported once and not for every file.
  const files = [
    ...targets
      .flatMap((target) => [...upstreamArtifacts(release, target), ...(helm ? helmArtifacts(target) : [])])
      .map((artifact) => ({ artifact, list: artifacts })),
    ...(held === undefined ? [] : targets.flatMap((target) => controlPlaneArtifacts(held, target))).map(
      (artifact) => ({ artifact, list: heldArtifacts }),
    ),
  ].map((file) => ({ ...file, at: locateArtifact(file.artifact.checksum?.url ?? file.artifact.url, source) }))
  const tasks = [
    ...files.map(({ artifact, list, at: location }) => async () => {
      const expected = digests && findArtifactDigest(digests, artifact.url)
      list.push(await resolveArtifact(artifact, location, expected, fetcher, signal))
    }),
    ...Object.entries(requestedImages ?? release.images).map(([name, image]) => async () => {
      const found = await resolveImage(image, registry, signal)
      checkDigest(image, found.digest, digests && findImageDigest(digests, image))
      images[name] = pinDigest(image, found.digest)
      const imageBuilds = windowsBuilds(found.content)
      if (hasWindows && imageBuilds !== undefined) builds[name] = imageBuilds
    }),
  ]
  await mapWithConcurrency(maxConcurrent, tasks, async (task) => task())
  return sortLock({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Lock',
    kubernetes: release.kubernetes,
    ...describeCatalog(release.catalog),
    artifacts,
    ...(held === undefined ? {} : { heldUpgrade: { kubernetes: held.kubernetes, artifacts: heldArtifacts } }),
    images,
    ...(Object.keys(builds).length === 0 ? {} : { windowsBuilds: builds }),
  })
}

async function resolveImage(name: string, registry: Registry, signal: AbortSignal): Promise<ImageManifest> {
  const image = parseImage(name)
  if (image === undefined) throw new Error(`${name} is not a full image name`)
  return registry.manifest(image, signal)
}

async function resolveArtifact(
  { component, version, os, arch, url, checksum }: UpstreamArtifact,
  location: string,
  expected: string | undefined,
  fetcher: Fetcher,
  signal: AbortSignal,
): Promise<LockedArtifact> {
  const artifact = { component, version, os, arch, url }
  if (checksum === undefined) {
    // If upstream publishes no checksum file, the lock gets the digest of this release without a download.
    // Hosts compare each download with the lock.
    if (expected !== undefined) return { ...artifact, sha256: expected, trust: 'release' }
    const sha256 = await fetcher.sha256(location, maxArtifactBytes, signal)
    return { ...artifact, sha256, trust: 'first-download' }
  }
  const text = await fetcher.text(location, maxChecksumFileBytes, signal)
  const read = readChecksum(text, checksum.format, url.slice(url.lastIndexOf('/') + 1))
  if (!read.ok) throw new HyperkubeError('CHECKSUM_NOT_READ', `${location} ${read.reason}`)
  checkDigest(location, read.sha256, expected)
  return { ...artifact, sha256: read.sha256, trust: expected === undefined ? 'published' : 'release' }
}

/** Throws if the source has other content than this release of hyperkube expects. */
function checkDigest(location: string, found: string, expected: string | undefined): void {
  if (expected === undefined || found === expected) return
  throw new HyperkubeError(
    'LOCK_DIGEST_REFUSED',
    `${location} has the digest ${found}; this release of hyperkube expects ${expected}`,
    { hint: digestRefusedHint },
  )
}
