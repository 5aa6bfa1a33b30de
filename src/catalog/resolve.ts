import { HyperkubeError } from '../kit/errors.ts'
import { type UpstreamArtifact, upstreamArtifacts } from './artifacts.ts'
import { mapAtMost } from './at-most.ts'
import { catalogFor } from './catalog.ts'
import { largestChecksumFile, readChecksum } from './checksum.ts'
import type { Fetcher } from './fetcher.ts'
import { inOrder, type Lock, type LockedArtifact } from './lock.ts'
import { type ArtifactSource, locate } from './source.ts'
import type { Target } from './target.ts'

const atOnce = 4
/** No program of the engine is a third of this, in bytes. */
const largestArtifact = 500_000_000

/** Asks a source for the digest of every file that machines of these kinds need. Fails with all that failed. */
export async function resolveLock(
  version: string,
  targets: readonly Target[],
  source: ArtifactSource,
  fetcher: Fetcher,
  signal: AbortSignal,
): Promise<Lock> {
  const release = catalogFor(version)
  // Located first: what is wrong with the source is said once, not for every file.
  const wanted = targets
    .flatMap((target) => upstreamArtifacts(release, target))
    .map((artifact) => ({ artifact, at: locate(artifact.checksum?.url ?? artifact.url, source) }))
  const artifacts = await mapAtMost(atOnce, wanted, async ({ artifact, at }) =>
    resolve(artifact, at, fetcher, signal),
  )
  return inOrder({
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Lock',
    kubernetes: version,
    artifacts,
    images: { ...release.images },
  })
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
