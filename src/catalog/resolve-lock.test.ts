import { once } from 'node:events'
import { expect, test } from 'vitest'
import { formatError as inWords } from '../kit/errors.ts'
import type { ArtifactTarget } from './artifacts.ts'
import { findKubernetesRelease } from './catalog.ts'
import { shippedCatalog } from './shipped-catalog.ts'
import { formatLock, readLock } from './lock.ts'
import { remoteRegistry } from './registry/registry.ts'
import { fakeImage, fakeRegistries } from './registry/testing/fake-registry.ts'
import { resolveLock } from './resolve-lock.ts'
import { fakeFetcher } from './testing/fake-fetcher.ts'
import { fakeDigest, fakeImages, fakeUpstream } from './testing/fake-upstream.ts'

const { signal } = new AbortController()
const linux: readonly ArtifactTarget[] = [{ os: 'linux', arch: 'amd64' }]
const release = findKubernetesRelease(shippedCatalog, '1.37.1')
const options = { release, targets: linux, source: 'upstream' } as const
const registry = remoteRegistry(fakeRegistries(fakeImages()), () => [])
const etcd = 'https://github.com/etcd-io/etcd/releases/download/v3.7.3'

test('each artifact gets its digest and the trust level of the digest', async () => {
  const sites = fakeUpstream('1.37.1')
  const targets = [...linux, { os: 'windows', arch: 'amd64' } as const]
  const fetcher = fakeFetcher((url) => sites.get(url))
  const lock = await resolveLock({ ...options, targets }, { fetcher, registry }, signal)
  expect(lock.artifacts).toHaveLength(21)
  for (const { url, sha256, trust, component } of lock.artifacts) {
    expect(sha256).toBe(fakeDigest(url))
    expect(trust).toBe(['flannel', 'shawl'].includes(component) ? 'first-download' : 'published')
  }
})

test('with Windows hosts, the lock lists the Windows builds of each image index', async () => {
  const sites = fakeUpstream('1.37.1')
  const fetcher = fakeFetcher((url) => sites.get(url))
  const { pause = '', coredns = '', busybox = '' } = release.images
  const some = {
    [pause]: fakeImage('pause', ['amd64'], [26_100, 17_763, 20_348]),
    [coredns]: fakeImage('coredns', ['amd64', 'arm64']),
    // An image without an index does not list its Windows builds.
    [busybox]: fakeImage('busybox'),
  }
  const sources = { fetcher, registry: remoteRegistry(fakeRegistries(some), () => []) }
  const images = { pause, coredns, busybox }
  const windows = [...linux, { os: 'windows', arch: 'amd64' } as const]
  const lock = await resolveLock({ ...options, targets: windows, images }, sources, signal)
  expect(lock.windowsBuilds).toEqual({ coredns: [], pause: [17_763, 20_348, 26_100] })
  expect(readLock('cluster.lock', formatLock(lock))).toEqual(lock)
  expect(await resolveLock({ ...options, images }, sources, signal)).not.toHaveProperty('windowsBuilds')
})

test('a mirror gives the same lock as upstream', async () => {
  const sites = fakeUpstream('1.37.1')
  const upstream = fakeFetcher((url) => sites.get(url))
  const base = 'http://mirror.example/all/'
  const mirror = fakeFetcher((url) =>
    url.startsWith(base) ? sites.get(`https://${url.slice(base.length)}`) : undefined,
  )
  expect(
    await resolveLock({ ...options, source: { mirror: base } }, { fetcher: mirror, registry }, signal),
  ).toEqual(await resolveLock(options, { fetcher: upstream, registry }, signal))
})

test('all failed downloads are reported together, each with its URL', async () => {
  const sites = fakeUpstream('1.37.1')
  sites.set(`${etcd}/SHA256SUMS`, '<html>sign in</html>')
  sites.delete('https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64')
  const fetcher = fakeFetcher((url) => sites.get(url))
  const { coredns: _, ...others } = fakeImages()
  const without = remoteRegistry(fakeRegistries(others), () => [])
  const error: unknown = await resolveLock(options, { fetcher, registry: without }, signal).catch(
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AggregateError)
  expect(inWords(error)).toMatchInlineSnapshot(`
    "2 of 21 failed
      https://github.com/etcd-io/etcd/releases/download/v3.7.3/SHA256SUMS has no line with a sha256 digest
      https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64 returned status 404"
  `)
})

test('each image, or each requested image, is pinned by digest', async () => {
  const sites = fakeUpstream('1.37.1')
  const sources = { fetcher: fakeFetcher((url) => sites.get(url)), registry }
  const { images } = await resolveLock(options, sources, signal)
  expect(images).toEqual(
    Object.fromEntries(
      Object.entries(release.images).map(([name, image]) => [name, `${image}@${fakeImage(image).digest}`]),
    ),
  )
  const { pause = '' } = release.images
  const some = await resolveLock({ ...options, images: { pause } }, sources, signal)
  expect(Object.keys(some.images)).toEqual(['pause'])
})

test('an invalid mirror is refused before any request', async () => {
  const fetcher = fakeFetcher(() => expect.fail('requested'))
  const locking = resolveLock(
    { ...options, source: { mirror: 'https://m.example/?a' } },
    { fetcher, registry },
    signal,
  )
  await expect(locking).rejects.toMatchObject({ code: 'MIRROR_NOT_A_BASE' })
})

test('at most four requests run at once, and an abort rejects with its reason', async () => {
  const controller = new AbortController()
  let requestCount = 0
  const waiting = async (_url: string, _limit: number, stop: AbortSignal): Promise<string> => {
    stop.throwIfAborted()
    requestCount++
    if (requestCount === 4) setImmediate(() => controller.abort(new Error('enough')))
    await once(stop, 'abort')
    stop.throwIfAborted()
    return ''
  }
  const fetcher = { text: waiting, sha256: waiting }
  await expect(resolveLock(options, { fetcher, registry }, controller.signal)).rejects.toThrow('enough')
  expect(requestCount).toBe(4)
})
