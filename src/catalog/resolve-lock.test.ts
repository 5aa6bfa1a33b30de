import { once } from 'node:events'
import { expect, test } from 'vitest'
import { describe as inWords } from '../kit/errors.ts'
import { catalogFor } from './catalog.ts'
import { fakeDigest, fakeImages, fakeUpstream } from './testing/fake-upstream.ts'
import { lockText, readLock } from './lock.ts'
import { memoryFetcher } from './testing/fake-fetcher.ts'
import { fakeImage, fakeRegistries } from './registry/testing/fake-registry.ts'
import { webRegistry } from './registry/registry.ts'
import { resolveLock } from './resolve-lock.ts'
import type { Target } from './artifact-target.ts'

const { signal } = new AbortController()
const linux: readonly Target[] = [{ os: 'linux', arch: 'amd64' }]
const wish = { version: '1.37.1', targets: linux, source: 'upstream' } as const
const registry = webRegistry(fakeRegistries(fakeImages()), () => [])
const etcd = 'https://github.com/etcd-io/etcd/releases/download/v3.7.3'

test('every file gets its digest, and the lock says who gave it', async () => {
  const sites = fakeUpstream('1.37.1')
  const targets = [...linux, { os: 'windows', arch: 'amd64' } as const]
  const fetcher = memoryFetcher((url) => sites.get(url))
  const lock = await resolveLock(
    { version: '1.37.1', targets, source: 'upstream' },
    { fetcher, registry },
    signal,
  )
  expect(lock.artifacts).toHaveLength(20)
  for (const { url, sha256, trust, component } of lock.artifacts) {
    expect(sha256).toBe(fakeDigest(url))
    expect(trust).toBe(['flannel', 'shawl'].includes(component) ? 'first-download' : 'published')
  }
})

test('where there are Windows hosts, the lock says for which builds images are', async () => {
  const sites = fakeUpstream('1.37.1')
  const fetcher = memoryFetcher((url) => sites.get(url))
  const { pause = '', coredns = '', busybox = '' } = catalogFor('1.37.1').images
  const some = {
    [pause]: fakeImage('pause', ['amd64'], [26_100, 17_763, 20_348]),
    [coredns]: fakeImage('coredns', ['amd64', 'arm64']),
    // Of one image alone it is not known.
    [busybox]: fakeImage('busybox'),
  }
  const sources = { fetcher, registry: webRegistry(fakeRegistries(some), () => []) }
  const images = { pause, coredns, busybox }
  const windows = [...linux, { os: 'windows', arch: 'amd64' } as const]
  const lock = await resolveLock({ ...wish, targets: windows, images }, sources, signal)
  expect(lock.windowsBuilds).toEqual({ coredns: [], pause: [17_763, 20_348, 26_100] })
  expect(readLock('cluster.lock', lockText(lock))).toEqual(lock)
  expect(await resolveLock({ ...wish, images }, sources, signal)).not.toHaveProperty('windowsBuilds')
})

test('from a mirror it is the same lock', async () => {
  const sites = fakeUpstream('1.37.1')
  const upstream = memoryFetcher((url) => sites.get(url))
  const base = 'http://mirror.example/all/'
  const mirror = memoryFetcher((url) =>
    url.startsWith(base) ? sites.get(`https://${url.slice(base.length)}`) : undefined,
  )
  expect(
    await resolveLock({ ...wish, source: { mirror: base } }, { fetcher: mirror, registry }, signal),
  ).toEqual(await resolveLock(wish, { fetcher: upstream, registry }, signal))
})

test('all failures are told at once, each with its URL', async () => {
  const sites = fakeUpstream('1.37.1')
  sites.set(`${etcd}/SHA256SUMS`, '<html>sign in</html>')
  sites.delete('https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64')
  const fetcher = memoryFetcher((url) => sites.get(url))
  const { coredns: _, ...others } = fakeImages()
  const without = webRegistry(fakeRegistries(others), () => [])
  const error: unknown = await resolveLock(wish, { fetcher, registry: without }, signal).catch(
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AggregateError)
  expect(inWords(error)).toMatchInlineSnapshot(`
    "2 of 18 failed
      https://github.com/etcd-io/etcd/releases/download/v3.7.3/SHA256SUMS has no line with a sha256 digest
      https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64 answered with status 404"
  `)
})

test('every image gets its digest behind its name, or only those that somebody wants', async () => {
  const sites = fakeUpstream('1.37.1')
  const sources = { fetcher: memoryFetcher((url) => sites.get(url)), registry }
  const { images } = await resolveLock(wish, sources, signal)
  expect(images).toEqual(
    Object.fromEntries(
      Object.entries(catalogFor('1.37.1').images).map(([name, image]) => [
        name,
        `${image}@${fakeImage(image).digest}`,
      ]),
    ),
  )
  const { pause = '' } = catalogFor('1.37.1').images
  const some = await resolveLock({ ...wish, images: { pause } }, sources, signal)
  expect(Object.keys(some.images)).toEqual(['pause'])
})

test('what is wrong with the source is told once, and nothing is asked', async () => {
  const fetcher = memoryFetcher(() => expect.fail('asked'))
  const locking = resolveLock(
    { ...wish, source: { mirror: 'https://m.example/?a' } },
    { fetcher, registry },
    signal,
  )
  await expect(locking).rejects.toMatchObject({ code: 'MIRROR_NOT_A_BASE' })
})

test('no more than four are asked at once, and an abort has one reason', async () => {
  const controller = new AbortController()
  let asked = 0
  const waiting = async (_url: string, _limit: number, stop: AbortSignal): Promise<string> => {
    stop.throwIfAborted()
    asked++
    if (asked === 4) setImmediate(() => controller.abort(new Error('enough')))
    await once(stop, 'abort')
    stop.throwIfAborted()
    return ''
  }
  const fetcher = { text: waiting, sha256: waiting }
  await expect(resolveLock(wish, { fetcher, registry }, controller.signal)).rejects.toThrow('enough')
  expect(asked).toBe(4)
})
