import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ProbeCheck } from '../../../contract/probe.ts'
import { testAuthority } from '../../../kit/testing/test-ca.ts'
import type { Seen } from '../probe-result.ts'
import { hostDisks } from './host-probe-deps.ts'
import { prober } from './prober.ts'
import { type TestEdges, testComponent, testEdges, testProbe } from './testing/fake-probe-deps.ts'

async function ask(edges: TestEdges, check: ProbeCheck, timeout = 2000): Promise<Seen> {
  using one = prober(edges)
  const { signal } = new AbortController()
  const seen = await one.ask(testProbe(check, { timeout }), testComponent('etcd'), signal)
  return seen
}

test('a service runs, or does not', async () => {
  const edges = testEdges()
  expect(await ask(edges, { kind: 'service' })).toEqual({
    state: 'failed',
    code: 'HEALTH_NOT_RUNNING',
    seen: 'etcd.service is inactive (dead)',
  })
  edges.units.set('etcd.service', { active: 'active', sub: 'running' })
  expect(await ask(edges, { kind: 'service' })).toEqual({ state: 'well' })
})

test('a file is there, empty or not there', async () => {
  const edges = testEdges()
  edges.texts.set('/full', 'x').set('/empty', '')
  expect(await ask(edges, { kind: 'file', path: '/full' })).toEqual({ state: 'well' })
  expect(await ask(edges, { kind: 'file', path: '/empty' })).toMatchObject({ seen: '/empty is empty' })
  expect(await ask(edges, { kind: 'file', path: '/none' })).toMatchObject({ seen: 'there is no /none' })
})

test('an interface is up, or not', async () => {
  const edges = testEdges()
  edges.links.set('flannel.1', ['10.244.1.0'])
  expect(await ask(edges, { kind: 'interface', name: 'flannel.1' })).toEqual({ state: 'well' })
  expect(await ask(edges, { kind: 'interface', name: 'flannel.2' })).toMatchObject({
    code: 'OVERLAY_INTERFACE',
  })
})

test('what only Windows has is not known here', async () => {
  const check = { kind: 'hns-network', name: 'x', type: 'overlay' } as const
  expect(await ask(testEdges(), check)).toMatchObject({ state: 'unknown' })
})

describe('a disk', () => {
  const latency = { kind: 'disk-latency', directory: '/var/lib/etcd', within: 100 } as const

  test('is fast, slow, full or broken', async () => {
    const edges = testEdges()
    expect(await ask(edges, latency)).toEqual({ state: 'well' })
    edges.disk.took = 300
    expect(await ask(edges, latency)).toMatchObject({ state: 'failed', code: 'DISK_SLOW' })
    edges.disk.took = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    expect(await ask(edges, latency)).toMatchObject({ code: 'DISK_FULL' })
    edges.disk.took = Object.assign(new Error('i/o error'), { code: 'EIO' })
    expect(await ask(edges, latency)).toMatchObject({ code: 'DISK_SLOW', seen: 'i/o error' })
  })

  test('that was slow for once is not slow', async () => {
    const edges = testEdges()
    const times = [300, 300, 90]
    const write = async (): Promise<number> => times.shift() ?? 300
    const disks = { ...edges.disks, write }
    expect(await ask({ ...edges, disks }, latency)).toEqual({ state: 'well' })
    const seen = 'writes in /var/lib/etcd took 300, 300 and 300 ms, and may take 100'
    expect(await ask({ ...edges, disks }, latency)).toEqual({ state: 'failed', code: 'DISK_SLOW', seen })
  })

  test('that hangs is written to once', async () => {
    const edges = testEdges()
    const { promise, resolve } = Promise.withResolvers<number>()
    edges.disk.took = promise
    using one = prober(edges)
    const { signal } = new AbortController()
    const look = async (): Promise<Seen> =>
      one.ask(testProbe(latency, { timeout: 50 }), testComponent('etcd'), signal)
    expect(await look()).toMatchObject({ code: 'DISK_SLOW', seen: 'no answer within 50 ms' })
    edges.disk.took = 1
    expect(await look()).toMatchObject({
      code: 'DISK_SLOW',
      seen: expect.stringContaining('has not ended yet'),
    })
    resolve(1)
    await setImmediate()
    expect(await look()).toEqual({ state: 'well' })
  })

  test('has room for bytes and for files', async () => {
    const edges = testEdges()
    const check = { kind: 'disk-space', directory: '/var/lib/etcd', free: 0.05 } as const
    expect(await ask(edges, check)).toEqual({ state: 'well' })
    edges.disk.freeFiles = 0.01
    expect(await ask(edges, check)).toMatchObject({
      code: 'DISK_FULL',
      seen: expect.stringContaining('files'),
    })
    edges.disk.free = 0.0499
    expect(await ask(edges, check)).toEqual({
      state: 'failed',
      code: 'DISK_FULL',
      seen: '4.9 % of the disk of /var/lib/etcd is free',
    })
  })

  test('of this machine is written to without a trace', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'disk-'))
    try {
      expect(await hostDisks.write(directory)).toBeGreaterThan(0)
      expect(existsSync(join(directory, '.hyperkube-probe'))).toBe(false)
      const { free, freeFiles } = await hostDisks.space(directory)
      for (const part of [free, freeFiles]) {
        expect(part).toBeGreaterThan(0)
        expect(part).toBeLessThanOrEqual(1)
      }
    } finally {
      await rm(directory, { recursive: true, force: true })
    }
  })
})

test('a certificate is good, due or over', async () => {
  const { client } = await testAuthority()
  const edges = testEdges()
  edges.time = Date.now()
  edges.texts.set('/client.crt', client.certificate)
  const check = { kind: 'certificate', file: '/client.crt', left: 0.2 } as const
  expect(await ask(edges, check)).toEqual({ state: 'well' })
  // Of two days, a fifth is left after 38.4 hours.
  edges.time += 40 * 3_600_000
  expect(await ask(edges, check)).toMatchObject({ state: 'failed', code: 'CERTIFICATE_DUE' })
  edges.time += 10 * 3_600_000
  expect(await ask(edges, check)).toMatchObject({ code: 'CERTIFICATE_EXPIRED' })
  edges.time -= 100 * 3_600_000
  expect(await ask(edges, check)).toMatchObject({ code: 'CERTIFICATE_EXPIRED' })
  edges.texts.set('/client.crt', 'nonsense')
  expect(await ask(edges, check)).toMatchObject({ state: 'unknown' })
  edges.texts.delete('/client.crt')
  expect(await ask(edges, check)).toMatchObject({ state: 'unknown' })
})

test('a clock agrees with most of the others, or does not', async () => {
  const authority = await testAuthority()
  const edges = testEdges()
  edges.time = Date.UTC(2027, 0, 1, 12, 0, 0, 300)
  edges.texts.set('/ca.crt', authority.certificate)
  const server = async (ahead: number): Promise<AsyncDisposable & { readonly url: string }> => {
    const { certificate: cert, privateKey: key } = authority.server
    const made = createServer({ cert, key }, (_, response) => {
      // Who does not know us answers as well, and so says what time it is.
      response.writeHead(401, { date: new Date(edges.time + ahead).toUTCString() }).end()
    })
    made.listen(0, '127.0.0.1')
    await once(made, 'listening')
    const address = made.address()
    return {
      url: `https://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`,
      async [Symbol.asyncDispose]() {
        made.closeAllConnections()
        made.close()
      },
    }
  }
  await using right = await server(0)
  await using early = await server(8000)
  await using late = await server(-8000)
  const look = async (...servers: readonly { readonly url: string }[]): Promise<Seen> =>
    ask(edges, { kind: 'clock', servers: servers.map(({ url }) => url), authority: '/ca.crt', within: 2000 })
  expect(await look(right, right)).toEqual({ state: 'well' })
  expect(await look(right, early)).toEqual({ state: 'well' })
  expect(await look(early)).toMatchObject({ state: 'failed', code: 'CLOCK_OFF' })
  expect(await look(late, late, right)).toMatchObject({
    code: 'CLOCK_OFF',
    seen: expect.stringMatching(/^this clock is 7\.3 s ahead of that of 127\.0\.0\.1:/),
  })
  expect(await look({ url: 'https://127.0.0.1:1' })).toMatchObject({ state: 'unknown' })
})
