import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  catalogTargets,
  type UpstreamArtifact,
  helmArtifacts,
  upstreamArtifacts,
} from '../src/catalog/artifacts.ts'
import { type KubernetesRelease, listDefaultReleases } from '../src/catalog/catalog.ts'
import { shippedCatalog } from '../src/catalog/shipped-catalog.ts'
import { maxChecksumFileBytes, readChecksum } from '../src/catalog/checksum.ts'
import { type Fetcher, httpFetcher, retryingFetcher } from '../src/catalog/fetcher.ts'
import { type Registry, remoteRegistry } from '../src/catalog/registry/registry.ts'
import {
  formatReleaseDigests,
  type ReleaseDigests,
  releaseDigestsFormat,
} from '../src/catalog/release-digests.ts'
import { httpTransport, retryingTransport } from '../src/catalog/transport.ts'
import { parseImage } from '../src/contract/image-reference.ts'
import { readVersioned } from '../src/contract/versioned.ts'
import { mapWithConcurrency } from '../src/kit/concurrency.ts'

const maxConcurrent = 4
const maxArtifactBytes = 500_000_000

export interface CollectDigestsDeps {
  readonly fetcher: Fetcher
  readonly registry: Registry
  /** Date of today, for example 2026-11-17. */
  readonly today: string
  readonly signal: AbortSignal
}

/**
 * Returns the digests of all catalogued files and images. Each file is downloaded from upstream and compared
 * with upstream's checksum file. A digest that differs from a previous one is an error, because publishers do
 * not replace released files. Previous entries that the catalog no longer names are dropped.
 */
export async function collectDigests(
  previous: ReleaseDigests,
  releases: readonly KubernetesRelease[],
  deps: CollectDigestsDeps,
): Promise<ReleaseDigests> {
  const files = releases.flatMap((release) =>
    catalogTargets.flatMap((target) => [...upstreamArtifacts(release, target), ...helmArtifacts(target)]),
  )
  const artifacts = await mapWithConcurrency(
    maxConcurrent,
    [...new Map(files.map((file) => [file.url, file])).values()],
    async (file) => {
      const found = await readArtifact(file, deps)
      return keepPrevious(
        file.url,
        found,
        previous.artifacts.find(({ url }) => url === file.url),
        (one) => one.sha256,
      )
    },
  )
  const references = [...new Set(releases.flatMap(({ images }) => Object.values(images)))]
  const images = await mapWithConcurrency(maxConcurrent, references, async (reference) =>
    keepPrevious(
      reference,
      await readImage(reference, deps),
      previous.images.find((one) => one.reference === reference),
      (one) => one.digest,
    ),
  )
  return { ...previous, artifacts, images }
}

async function readArtifact(
  { url, checksum }: UpstreamArtifact,
  { fetcher, today, signal }: CollectDigestsDeps,
): Promise<ReleaseDigests['artifacts'][number]> {
  const sha256 = await fetcher.sha256(url, maxArtifactBytes, signal)
  if (checksum === undefined) return { url, sha256, provenance: { method: 'download', readOn: today } }
  const text = await fetcher.text(checksum.url, maxChecksumFileBytes, signal)
  const read = readChecksum(text, checksum.format, url.slice(url.lastIndexOf('/') + 1))
  if (!read.ok) throw new Error(`${checksum.url} ${read.reason}`)
  if (read.sha256 !== sha256)
    throw new Error(`${url} has the digest ${sha256}, and ${checksum.url} says ${read.sha256}`)
  return { url, sha256, provenance: { method: 'checksum-file', url: checksum.url, readOn: today } }
}

async function readImage(
  reference: string,
  { registry, today, signal }: CollectDigestsDeps,
): Promise<ReleaseDigests['images'][number]> {
  const image = parseImage(reference)
  if (image === undefined) throw new Error(`${reference} is not a full image name`)
  const { digest } = await registry.manifest(image, signal)
  return { reference, digest, provenance: { method: 'registry', readOn: today } }
}

/** Returns the previous entry if it has the same digest, so that its date stays. */
function keepPrevious<T>(name: string, found: T, previous: T | undefined, digestOf: (entry: T) => string): T {
  if (previous === undefined) return found
  if (digestOf(previous) === digestOf(found)) return previous
  throw new Error(`the digest of ${name} was ${digestOf(previous)} and is now ${digestOf(found)}`)
}

if (import.meta.main) {
  const file = join(import.meta.dirname, '../src/catalog/release-digests.json')
  const previous = readVersioned(releaseDigestsFormat, JSON.parse(await readFile(file, 'utf8')))
  const collected = await collectDigests(previous, listDefaultReleases(shippedCatalog), {
    fetcher: retryingFetcher(httpFetcher({})),
    registry: remoteRegistry(retryingTransport(httpTransport({})), () => []),
    today: new Date().toISOString().slice(0, 10),
    signal: new AbortController().signal,
  })
  await writeFile(file, formatReleaseDigests(collected))
  process.stdout.write(`${collected.artifacts.length} files, ${collected.images.length} images\n`)
}
