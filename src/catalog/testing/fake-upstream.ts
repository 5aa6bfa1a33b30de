import { createHash } from 'node:crypto'
import { catalogTargets, helmArtifacts, upstreamArtifacts } from '../artifacts.ts'
import { type Catalog, findKubernetesRelease, listDefaultReleases } from '../catalog.ts'
import { shippedCatalog } from '../shipped-catalog.ts'
import { emptyReleaseDigests, type ReleaseDigests } from '../release-digests.ts'
import { type FakeImage, fakeImage } from '../registry/testing/fake-registry.ts'
import type { FakeResponse } from './fake-fetcher.ts'

/** Returns small files and checksum files for all upstream URLs of these versions, for tests. */
export function fakeUpstream(...versions: readonly string[]): Map<string, FakeResponse> {
  return fakeUpstreamOf(shippedCatalog, ...versions)
}

/** Returns the same kind of files as `fakeUpstream`, for versions of another catalog. */
export function fakeUpstreamOf(catalog: Catalog, ...versions: readonly string[]): Map<string, FakeResponse> {
  const sites = new Map<string, string>()
  for (const version of versions) {
    for (const { url, checksum } of catalogTargets.flatMap((target) => [
      ...upstreamArtifacts(findKubernetesRelease(catalog, version), target),
      ...helmArtifacts(target),
    ])) {
      sites.set(url, `the file ${url}`)
      if (checksum === undefined) continue
      const digest = fakeDigest(url)
      const line = `${digest}  ${url.slice(url.lastIndexOf('/') + 1)}\n`
      sites.set(checksum.url, checksum.format === 'bare' ? digest : (sites.get(checksum.url) ?? '') + line)
    }
  }
  return new Map<string, FakeResponse>(sites)
}

/** Returns a fake image for each image of every release. The key is the image reference. */
export function fakeImages(): Readonly<Record<string, FakeImage>> {
  const names = listDefaultReleases(shippedCatalog).flatMap(({ images }) => Object.values(images))
  return Object.fromEntries(names.map((name) => [name, fakeImage(name)]))
}

export function fakeDigest(url: string): string {
  return createHash('sha256').update(`the file ${url}`).digest('hex')
}

/** Returns digests of a release that match the fake files and images of a version. */
export function buildFakeReleaseDigests(version: string): ReleaseDigests {
  const readOn = '2026-11-17'
  const release = findKubernetesRelease(shippedCatalog, version)
  const files = catalogTargets.flatMap((target) => upstreamArtifacts(release, target))
  return {
    ...emptyReleaseDigests,
    artifacts: files.map(({ url }) => ({
      url,
      sha256: fakeDigest(url),
      provenance: { method: 'download', readOn },
    })),
    images: Object.values(release.images).map((reference) => ({
      reference,
      digest: fakeImage(reference).digest,
      provenance: { method: 'registry', readOn },
    })),
  }
}
