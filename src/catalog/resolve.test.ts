import { once } from 'node:events'
import { expect, test } from 'vitest'
import { describe as inWords } from '../kit/errors.ts'
import { fakeDigest, fakeUpstream } from './fake-upstream.ts'
import { memoryFetcher } from './memory-fetcher.ts'
import { resolveLock } from './resolve.ts'
import type { Target } from './target.ts'

const { signal } = new AbortController()
const linux: readonly Target[] = [{ os: 'linux', arch: 'amd64' }]
const etcd = 'https://github.com/etcd-io/etcd/releases/download/v3.7.3'

test('every file gets its digest, and the lock says who gave it', async () => {
  const sites = fakeUpstream('1.37.1')
  const targets = [...linux, { os: 'windows', arch: 'amd64' } as const]
  const fetcher = memoryFetcher((url) => sites.get(url))
  const lock = await resolveLock('1.37.1', targets, 'upstream', fetcher, signal)
  expect(lock.artifacts).toHaveLength(18)
  for (const { url, sha256, trust, component } of lock.artifacts) {
    expect(sha256).toBe(fakeDigest(url))
    expect(trust).toBe(component === 'flannel' ? 'first-download' : 'published')
  }
})

test('from a mirror it is the same lock', async () => {
  const sites = fakeUpstream('1.37.1')
  const upstream = memoryFetcher((url) => sites.get(url))
  const base = 'http://mirror.example/all/'
  const mirror = memoryFetcher((url) =>
    url.startsWith(base) ? sites.get(`https://${url.slice(base.length)}`) : undefined,
  )
  expect(await resolveLock('1.37.1', linux, { mirror: base }, mirror, signal)).toEqual(
    await resolveLock('1.37.1', linux, 'upstream', upstream, signal),
  )
})

test('all failures are told at once, each with its URL', async () => {
  const sites = fakeUpstream('1.37.1')
  sites.set(`${etcd}/SHA256SUMS`, '<html>sign in</html>')
  sites.delete('https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64')
  const fetcher = memoryFetcher((url) => sites.get(url))
  const error: unknown = await resolveLock('1.37.1', linux, 'upstream', fetcher, signal).catch(
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(AggregateError)
  expect(inWords(error)).toMatchInlineSnapshot(`
    "2 of 12 failed
      https://github.com/etcd-io/etcd/releases/download/v3.7.3/SHA256SUMS has no line with a sha256 digest
      https://github.com/flannel-io/flannel/releases/download/v0.28.7/flanneld-amd64 answered with status 404"
  `)
})

test('what is wrong with the source is told once, and nothing is asked', async () => {
  const fetcher = memoryFetcher(() => expect.fail('asked'))
  const locking = resolveLock('1.37.1', linux, { bundle: 'b.tar' }, fetcher, signal)
  await expect(locking).rejects.toMatchObject({ code: 'BUNDLE_NOT_SUPPORTED' })
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
  await expect(resolveLock('1.37.1', linux, 'upstream', fetcher, controller.signal)).rejects.toThrow('enough')
  expect(asked).toBe(4)
})
