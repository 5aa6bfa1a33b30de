import { expect, test } from 'vitest'
import { findKubernetesRelease } from '../src/catalog/catalog.ts'
import { shippedCatalog } from '../src/catalog/shipped-catalog.ts'
import { remoteRegistry } from '../src/catalog/registry/registry.ts'
import { fakeRegistries } from '../src/catalog/registry/testing/fake-registry.ts'
import {
  emptyReleaseDigests,
  formatReleaseDigests,
  type ReleaseDigests,
} from '../src/catalog/release-digests.ts'
import { type FakeResponse, fakeFetcher } from '../src/catalog/testing/fake-fetcher.ts'
import { fakeImages, fakeUpstream } from '../src/catalog/testing/fake-upstream.ts'
import { collectDigests } from './release-digests.ts'

const kubelet = 'https://dl.k8s.io/release/v1.37.1/bin/linux/amd64/kubelet'
const flannel = 'https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64'

async function collect(
  previous: ReleaseDigests,
  today: string,
  changes: Readonly<Record<string, FakeResponse>> = {},
): Promise<ReleaseDigests> {
  const sites = new Map([...fakeUpstream('1.37.1'), ...Object.entries(changes)])
  // The test uses only the image `pause`, because other images of the catalog may change while the format
  // stays the same.
  const { pause = '' } = findKubernetesRelease(shippedCatalog, '1.37.1').images
  return collectDigests(
    previous,
    [{ ...findKubernetesRelease(shippedCatalog, '1.37.1'), images: { pause } }],
    {
      fetcher: fakeFetcher((url) => sites.get(url)),
      registry: remoteRegistry(fakeRegistries(fakeImages()), () => []),
      today,
      signal: new AbortController().signal,
    },
  )
}

test('digests are collected with their provenance, and a second run changes nothing', async () => {
  const first = await collect(emptyReleaseDigests, '2026-11-17')
  await expect(formatReleaseDigests(first)).toMatchFileSnapshot(
    '../src/catalog/testdata/v1-release-digests.json',
  )
  expect(await collect(first, '2026-12-24')).toEqual(first)
})

test('a file that does not match its checksum file is refused', async () => {
  await expect(collect(emptyReleaseDigests, '2026-11-17', { [kubelet]: 'evil' })).rejects.toThrow(
    `and ${kubelet}.sha256 says`,
  )
})

test('a digest that changed since the last run is refused', async () => {
  const first = await collect(emptyReleaseDigests, '2026-11-17')
  await expect(collect(first, '2026-12-24', { [flannel]: 'replaced' })).rejects.toThrow(
    `the digest of ${flannel} was`,
  )
})
