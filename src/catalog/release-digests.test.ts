import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { readVersioned } from '../contract/versioned.ts'
import { catalogTargets, upstreamArtifacts } from './artifacts.ts'
import { listDefaultReleases } from './catalog.ts'
import { shippedCatalog } from './shipped-catalog.ts'
import {
  findArtifactDigest,
  findImageDigest,
  formatReleaseDigests,
  readShippedDigests,
  releaseDigestsFormat,
} from './release-digests.ts'
import { buildFakeReleaseDigests, fakeDigest } from './testing/fake-upstream.ts'

test('the shipped release digests are formatted, and refer only to artifacts and images of the catalog', async () => {
  const shipped = readShippedDigests()
  expect(await readFile(new URL('release-digests.json', import.meta.url), 'utf8')).toBe(
    formatReleaseDigests(shipped),
  )
  const urls = new Set(
    listDefaultReleases(shippedCatalog).flatMap((release) =>
      catalogTargets.flatMap((target) => upstreamArtifacts(release, target).map(({ url }) => url)),
    ),
  )
  const images = new Set(
    listDefaultReleases(shippedCatalog).flatMap((release) => Object.values(release.images)),
  )
  expect(shipped.artifacts.map(({ url }) => url).filter((url) => !urls.has(url))).toEqual([])
  expect(
    shipped.images.map(({ reference }) => reference).filter((reference) => !images.has(reference)),
  ).toEqual([])
})

test('release digests in format v1 are read', async () => {
  const text = await readFile(new URL('testdata/v1-release-digests.json', import.meta.url), 'utf8')
  expect(formatReleaseDigests(readVersioned(releaseDigestsFormat, JSON.parse(text)))).toBe(text)
})

test('a digest is found by its exact URL or image reference', () => {
  const digests = buildFakeReleaseDigests('1.37.1')
  const url = 'https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet'
  expect(findArtifactDigest(digests, url)).toBe(fakeDigest(url))
  expect(findArtifactDigest(digests, `${url}x`)).toBeUndefined()
  expect(findImageDigest(digests, 'registry.k8s.io/pause:3.10.2')).toMatch(/^sha256:/)
  expect(findImageDigest(digests, 'registry.k8s.io/pause:3.10.1')).toBeUndefined()
})

test.each([
  ['a digest of the wrong length', { sha256: 'ab' }],
  ['an unencrypted URL', { url: 'http://dl.k8s.io/kubelet' }],
  ['an artifact without provenance', { provenance: undefined }],
])('%s is refused', (_, change) => {
  const digests = buildFakeReleaseDigests('1.37.1')
  const [first] = digests.artifacts
  const document = { ...digests, artifacts: [{ ...first, ...change }] }
  expect(() => readVersioned(releaseDigestsFormat, document)).toThrow(
    expect.objectContaining({ code: 'CONTRACT_NOT_VALID' }),
  )
})
