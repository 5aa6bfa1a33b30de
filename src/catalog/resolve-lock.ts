import { parseImage, withDigest } from '../contract/image-reference.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { type UpstreamArtifact, upstreamArtifacts } from './artifacts.ts'
import { mapAtMost } from './map-with-concurrency.ts'
import { catalogFor } from './catalog.ts'
import { largestChecksumFile, readChecksum } from './checksum.ts'
import type { Fetcher } from './fetcher.ts'
import { inOrder, type Lock, type LockedArtifact } from './lock.ts'
import { windowsBuilds } from './registry/image-manifest.ts'
import type { Manifest, Registry } from './registry/registry.ts'
import { locate, type Site } from './artifact-source.ts'
import type { Target } from './artifact-target.ts'

const atOnce = 4
/** No program of the engine is a third of this, in bytes. */
const largestArtifact = 500_000_000

export interface LockWish {
  readonly version: string
  /** The kinds of machines. */
  readonly targets: readonly Target[]
  readonly source: Site
  /** By name; all of the release, unless somebody knows that some are not needed. */
  readonly images?: Readonly<Record<string, string>>
}

export interface LockSources {
  readonly fetcher: Fetcher
  readonly registry: Registry
}

/** Looks up the digest of every file that machines of these kinds need, and of every image. Fails with all that failed. */
export async function resolveLock(
  { version, targets, source, images: wanted }: LockWish,
  { fetcher, registry }: LockSources,
  signal: AbortSignal,
): Promise<Lock> {
  const release = catalogFor(version)
  const artifacts: LockedArtifact[] = []
  const images: Record<string, string> = {}
  const builds: Record<string, number[]> = {}
  const forWindows = targets.some(({ os }) => os === 'windows')
  // Located first: what is wrong with the source is said once, not for every file.
  const files = targets
    .flatMap((target) => upstreamArtifacts(release, target))
    .map((artifact) => ({ artifact, at: locate(artifact.checksum?.url ?? artifact.url, source) }))
  const lookUps = [
    ...files.map(({ artifact, at }) => async () => {
      artifacts.push(await resolve(artifact, at, fetcher, signal))
    }),
    ...Object.entries(wanted ?? release.images).map(([name, image]) => async () => {
      const found = await look(image, registry, signal)
      images[name] = withDigest(image, found.digest)
      const its = windowsBuilds(found.content)
      if (forWindows && its !== undefined) builds[name] = its
    }),
  ]
  await mapAtMost(atOnce, lookUps, async (lookUp) => lookUp())
  return inOrder({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Lock',
    kubernetes: version,
    artifacts,
    images,
    ...(Object.keys(builds).length === 0 ? {} : { windowsBuilds: builds }),
  })
}

async function look(name: string, registry: Registry, signal: AbortSignal): Promise<Manifest> {
  const image = parseImage(name)
  if (image === undefined) throw new Error(`${name} is no image’s name in full`)
  return registry.manifest(image, signal)
}

async function resolve(
  { component, version, os, arch, url, checksum }: UpstreamArtifact,
  at: string,
  fetcher: Fetcher,
  signal: AbortSignal,
): Promise<LockedArtifact> {
  const artifact = { component, version, os, arch, url }
  if (checksum === undefined) {
    const sha256 = await fetcher.sha256(at, largestArtifact, signal)
    return { ...artifact, sha256, trust: 'first-download' }
  }
  const text = await fetcher.text(at, largestChecksumFile, signal)
  const read = readChecksum(text, checksum.format, url.slice(url.lastIndexOf('/') + 1))
  if (!read.ok) throw new HyperkubeError('CHECKSUM_NOT_READ', `${at} ${read.reason}`)
  return { ...artifact, sha256: read.sha256, trust: 'published' }
}
