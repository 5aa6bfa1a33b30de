import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { ProbeCheck } from '../../../contract/probe.ts'
import { createTestCa } from '../../../kit/testing/test-ca.ts'
import { createCa } from '../../../pki/ca.ts'
import { day, year } from '../../../pki/lifetime.ts'
import { issueCertificate } from '../../../pki/sign.ts'
import { hostDisks } from './probe-deps.ts'
import type { ProbeResult } from './probe-runner.ts'
import { createProber } from './prober.ts'
import {
  createFakeProbeDeps,
  type FakeProbeDeps,
  testComponent,
  testProbe,
} from './testing/fake-probe-deps.ts'

async function runProbe(deps: FakeProbeDeps, check: ProbeCheck, timeout = 2000): Promise<ProbeResult> {
  using probes = createProber(deps)
  const { signal } = new AbortController()
  const result = await probes.run(testProbe(check, { timeoutMs: timeout }), testComponent('etcd'), signal)
  return result
}

test('a service probe is healthy only if its unit is active', async () => {
  const deps = createFakeProbeDeps()
  expect(await runProbe(deps, { kind: 'service' })).toEqual({
    state: 'unhealthy',
    code: 'HEALTH_NOT_RUNNING',
    message: 'etcd.service is inactive (dead)',
  })
  deps.units.set('etcd.service', { active: 'active', sub: 'running' })
  expect(await runProbe(deps, { kind: 'service' })).toEqual({ state: 'healthy' })
})

test('a file probe is unhealthy if its file is empty or missing', async () => {
  const deps = createFakeProbeDeps()
  deps.texts.set('/full', 'x').set('/empty', '')
  expect(await runProbe(deps, { kind: 'file', path: '/full' })).toEqual({ state: 'healthy' })
  expect(await runProbe(deps, { kind: 'file', path: '/empty' })).toMatchObject({ message: '/empty is empty' })
  expect(await runProbe(deps, { kind: 'file', path: '/none' })).toMatchObject({
    message: 'there is no /none',
  })
})

test('a file probe with a maximum age is unhealthy if the file is older', async () => {
  const deps = createFakeProbeDeps()
  deps.texts.set('/heartbeat', 'alive')
  const facts = await deps.files.stat('/heartbeat')
  const at = (ageMs: number): FakeProbeDeps => ({
    ...deps,
    clock: { now: () => new Date(Number(BigInt(facts?.modified ?? 0) / 1_000_000n) + ageMs) },
  })
  const check = { kind: 'file', path: '/heartbeat', maxAgeMs: 5000 } as const
  expect(await runProbe(at(4900), check)).toEqual({ state: 'healthy' })
  expect(await runProbe(at(5100), check)).toMatchObject({
    state: 'unhealthy',
    code: 'HEALTH_NO_RESPONSE',
    message: '/heartbeat was written 5.1 s ago',
  })
})

test('suspended work begins when running probes have cleaned up, and no probe runs meanwhile', async () => {
  const cleanedUp = Promise.withResolvers<undefined>()
  const events: string[] = []
  const deps = createFakeProbeDeps()
  const write = async (): Promise<number> => {
    events.push('probe begins')
    await cleanedUp.promise
    events.push('probe ends')
    return 1
  }
  using probes = createProber({ ...deps, disks: { ...deps.disks, write } })
  const probe = testProbe({ kind: 'disk-latency', directory: '/var/lib/etcd', maxMs: 100 })
  const run = async (): Promise<ProbeResult> =>
    probes.run(probe, testComponent('etcd'), new AbortController().signal)
  const first = run()
  await setImmediate()
  const work = probes.suspend(async () => {
    events.push('work')
    return run()
  })
  await first
  await setImmediate()
  expect(events).toEqual(['probe begins'])
  cleanedUp.resolve(undefined)
  expect(await work).toMatchObject({ state: 'unknown' })
  expect(events).toEqual(['probe begins', 'probe ends', 'work'])
  expect(await run()).toEqual({ state: 'healthy' })
})

test('an interface probe is unhealthy if its interface is missing', async () => {
  const deps = createFakeProbeDeps()
  deps.links.set('flannel.1', ['10.244.1.0'])
  expect(await runProbe(deps, { kind: 'interface', name: 'flannel.1' })).toEqual({ state: 'healthy' })
  expect(await runProbe(deps, { kind: 'interface', name: 'flannel.2' })).toMatchObject({
    code: 'OVERLAY_INTERFACE',
  })
})

test('a probe for Windows is unknown on Linux', async () => {
  const check = { kind: 'hns-network', name: 'x', type: 'overlay' } as const
  expect(await runProbe(createFakeProbeDeps(), check)).toMatchObject({ state: 'unknown' })
})

describe('a disk', () => {
  const latency = { kind: 'disk-latency', directory: '/var/lib/etcd', maxMs: 100 } as const

  test('is healthy if it is fast, and is reported if it is slow, full or broken', async () => {
    const deps = createFakeProbeDeps()
    expect(await runProbe(deps, latency)).toEqual({ state: 'healthy' })
    deps.disk.took = 300
    expect(await runProbe(deps, latency)).toMatchObject({ state: 'unhealthy', code: 'DISK_SLOW' })
    deps.disk.took = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
    expect(await runProbe(deps, latency)).toMatchObject({ code: 'DISK_FULL' })
    deps.disk.took = Object.assign(new Error('i/o error'), { code: 'EIO' })
    expect(await runProbe(deps, latency)).toMatchObject({ code: 'DISK_SLOW', message: 'i/o error' })
  })

  test('is healthy if one of three test writes is fast', async () => {
    const deps = createFakeProbeDeps()
    const times = [300, 300, 90]
    const write = async (): Promise<number> => times.shift() ?? 300
    const disks = { ...deps.disks, write }
    expect(await runProbe({ ...deps, disks }, latency)).toEqual({ state: 'healthy' })
    const text = 'test writes in /var/lib/etcd took 300, 300 and 300 ms; the limit is 100 ms'
    expect(await runProbe({ ...deps, disks }, latency)).toEqual({
      state: 'unhealthy',
      code: 'DISK_SLOW',
      message: text,
    })
  })

  test('that hangs gets no second test write before the first has finished', async () => {
    const deps = createFakeProbeDeps()
    const { promise, resolve } = Promise.withResolvers<number>()
    deps.disk.took = promise
    using probes = createProber(deps)
    const { signal } = new AbortController()
    const runProbeAgain = async (): Promise<ProbeResult> =>
      probes.run(testProbe(latency, { timeoutMs: 50 }), testComponent('etcd'), signal)
    expect(await runProbeAgain()).toMatchObject({ code: 'DISK_SLOW', message: 'no answer within 50 ms' })
    deps.disk.took = 1
    expect(await runProbeAgain()).toMatchObject({
      code: 'DISK_SLOW',
      message: expect.stringContaining('has not finished'),
    })
    resolve(1)
    await setImmediate()
    expect(await runProbeAgain()).toEqual({ state: 'healthy' })
  })

  test('is reported as full if it has too few free bytes or inodes', async () => {
    const deps = createFakeProbeDeps()
    const check = { kind: 'disk-space', directory: '/var/lib/etcd', minFree: 0.05 } as const
    expect(await runProbe(deps, check)).toEqual({ state: 'healthy' })
    deps.disk.freeFiles = 0.01
    expect(await runProbe(deps, check)).toMatchObject({
      code: 'DISK_FULL',
      message: expect.stringContaining('inodes'),
    })
    deps.disk.free = 0.0499
    expect(await runProbe(deps, check)).toEqual({
      state: 'unhealthy',
      code: 'DISK_FULL',
      message: 'only 4.9 % of the disk space of /var/lib/etcd is free',
    })
  })

  test('has no test file left after a test write', async () => {
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

test('a certificate probe reports certificates that are due, expired, not yet valid or unreadable', async () => {
  const { client } = await createTestCa()
  const deps = createFakeProbeDeps()
  deps.time = Date.now()
  deps.texts.set('/client.crt', client.certificate)
  const check = { kind: 'certificate', file: '/client.crt', minRemaining: 0.2 } as const
  expect(await runProbe(deps, check)).toEqual({ state: 'healthy' })
  // The certificate is valid for two days; after 38.4 hours a fifth of this time is left.
  deps.time += 40 * 3_600_000
  expect(await runProbe(deps, check)).toMatchObject({ state: 'unhealthy', code: 'CERTIFICATE_DUE' })
  deps.time += 10 * 3_600_000
  expect(await runProbe(deps, check)).toMatchObject({ code: 'CERTIFICATE_EXPIRED' })
  deps.time -= 100 * 3_600_000
  expect(await runProbe(deps, check)).toMatchObject({ code: 'CERTIFICATE_EXPIRED' })
  deps.texts.set('/client.crt', 'nonsense')
  expect(await runProbe(deps, check)).toMatchObject({ state: 'unknown' })
  deps.texts.delete('/client.crt')
  expect(await runProbe(deps, check)).toMatchObject({ state: 'unknown' })
})

test('a clock probe is unhealthy if the clock differs from most servers', async () => {
  const ca = await createTestCa()
  const deps = createFakeProbeDeps()
  deps.time = Date.UTC(2027, 0, 1, 12, 0, 0, 300)
  deps.texts.set('/ca.crt', ca.certificate)
  const server = async (
    ahead: number,
    { certificate: cert, privateKey: key } = ca.server,
  ): Promise<AsyncDisposable & { readonly url: string }> => {
    const made = createServer({ cert, key }, (_, response) => {
      // A server that rejects the request still sends a Date header.
      response.writeHead(401, { date: new Date(deps.time + ahead).toUTCString() }).end()
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
  const runProbeAgain = async (...servers: readonly { readonly url: string }[]): Promise<ProbeResult> =>
    runProbe(deps, { kind: 'clock', servers: servers.map(({ url }) => url), caFile: '/ca.crt', maxMs: 2000 })
  expect(await runProbeAgain(right, right)).toEqual({ state: 'healthy' })
  expect(await runProbeAgain(right, early)).toEqual({ state: 'healthy' })
  expect(await runProbeAgain(early)).toMatchObject({ state: 'unhealthy', code: 'CLOCK_OFF' })
  expect(await runProbeAgain(late, late, right)).toMatchObject({
    code: 'CLOCK_OFF',
    message: expect.stringMatching(/^the clock of this host is 7\.3 s ahead of 127\.0\.0\.1:/),
  })
  expect(await runProbeAgain({ url: 'https://127.0.0.1:1' })).toMatchObject({ state: 'unknown' })
  // With a wrong clock the certificates of the other servers seem to have expired.
  const longAgo = new Date(Date.now() - 10 * day)
  const pastCa = await createCa('kubernetes', year, longAgo)
  const spec = { subject: { commonName: 'x', organizations: [] }, usages: ['server'], lifetime: day } as const
  const names = { dns: [], ip: ['127.0.0.1'] }
  const { certificate, privateKey } = await issueCertificate(pastCa, 'key', { ...spec, names }, longAgo)
  await using expired = await server(8000, { certificate, privateKey: privateKey.revealText() })
  expect(await runProbeAgain(expired)).toMatchObject({ state: 'unknown' })
  deps.texts.set('/ca.crt', pastCa.certificate)
  expect(await runProbeAgain(expired)).toMatchObject({ state: 'unhealthy', code: 'CLOCK_OFF' })
})
