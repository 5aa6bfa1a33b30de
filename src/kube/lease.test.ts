import { beforeAll, describe, expect, test } from 'vitest'
import type { ReceivedRequest, TestResponse } from '../kit/testing/https-test-server.ts'
import { createTestCa, type TestCa } from '../kit/testing/test-ca.ts'
import { LeaseLock } from './lease-lock.ts'
import { createKubeLeaseStore, decideLease, formatMicroTime, type Lease, leases } from './lease.ts'
import { createKubeTestBench } from './testing/kube-test-bench.ts'

const me = { identity: 'me', duration: 15_000 }
const wall = new Date('2026-11-15T12:00:00.123Z')
const now = { wall, monotonic: 100_000 }
const time = '2026-11-15T12:00:00.123000Z'
const fresh = { holderIdentity: 'me', leaseDurationSeconds: 15, acquireTime: time, renewTime: time }

function createLease(spec: Lease['spec']): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'l', namespace: 'n', resourceVersion: '1' },
    spec,
  }
}

test('a MicroTime has six fractional digits', () => {
  expect(formatMicroTime(wall)).toBe(time)
  expect(formatMicroTime(new Date('2026-11-15T12:00:00Z'))).toBe('2026-11-15T12:00:00.000000Z')
})

describe('a lease', () => {
  const theirs = { holderIdentity: 'you', leaseDurationSeconds: 15, leaseTransitions: 4 }

  test('is created if it is missing', () => {
    const action = decideLease({ lease: undefined, since: 0 }, me, now)
    expect(action).toEqual({ kind: 'create', spec: { ...fresh, leaseTransitions: 0 } })
  })

  test('is renewed by its holder, and keeps its acquireTime', () => {
    const lease = createLease({ ...theirs, holderIdentity: 'me', acquireTime: 'earlier' })
    const spec = { ...fresh, acquireTime: 'earlier', leaseTransitions: 4 }
    expect(decideLease({ lease, since: 0 }, me, now)).toEqual({ kind: 'renew', spec })
  })

  test('of another holder is not taken before it expires', () => {
    const lease = createLease(theirs)
    expect(decideLease({ lease, since: 90_000 }, me, now)).toEqual({
      kind: 'wait',
      holder: 'you',
      left: 5000,
    })
    expect(decideLease({ lease, since: 85_001 }, me, now)).toMatchObject({ kind: 'wait', left: 1 })
    expect(decideLease({ lease, since: 85_000 }, me, now)).toMatchObject({ kind: 'take' })
  })

  test('expires by the time it was observed unchanged, not by the clock of its holder', () => {
    const lease = createLease({ ...theirs, renewTime: '1999-01-01T00:00:00.000000Z' })
    expect(decideLease({ lease, since: now.monotonic }, me, now).kind).toBe('wait')
  })

  test.each([
    ['released', ''],
    ['without a holder', null],
  ])('that is %s is taken at once, and leaseTransitions is incremented', (_, holderIdentity) => {
    const lease = createLease({ ...theirs, holderIdentity })
    const spec = { ...fresh, leaseTransitions: 5 }
    expect(decideLease({ lease, since: now.monotonic }, me, now)).toEqual({ kind: 'take', spec })
  })

  test('that was deleted stays reserved until its expiry, and leaseTransitions continues', () => {
    const previous = createLease(theirs)
    const after = (since: number, identity = 'me') =>
      decideLease({ lease: undefined, since, previous }, { ...me, identity }, now)
    expect(after(now.monotonic)).toEqual({ kind: 'wait', holder: 'you', left: 15_000 })
    expect(after(85_000)).toMatchObject({ kind: 'take', spec: { leaseTransitions: 5 } })
    expect(after(now.monotonic, 'you')).toMatchObject({ kind: 'renew', spec: { leaseTransitions: 4 } })
  })

  test('without a spec is taken', () => {
    expect(decideLease({ lease: createLease(null), since: 0 }, me, now).kind).toBe('take')
  })
})

describe('contenders for a lease', () => {
  let ca: TestCa
  const { serve, createClient } = createKubeTestBench(() => ca)
  const { signal } = new AbortController()

  beforeAll(async () => {
    ca = await createTestCa()
  })

  /** A fake API with one lease. */
  function store(): (request: ReceivedRequest) => TestResponse {
    let held: Lease | undefined
    let version = 0
    const put = (body: unknown): TestResponse => {
      const lease = leases.schema.parse(body)
      held = { ...lease, metadata: { ...lease.metadata, resourceVersion: String(++version) } }
      return { json: held }
    }
    const conflict = { status: 409, json: { kind: 'Status', reason: 'Conflict' } }
    return ({ method, body }) => {
      if (method === 'GET') return held === undefined ? { status: 404, text: '' } : { json: held }
      if (method === 'POST') return held === undefined ? put(body) : conflict
      const { metadata } = leases.schema.parse(body)
      return metadata.resourceVersion === held?.metadata.resourceVersion ? put(body) : conflict
    }
  }

  test('hold the lease one at a time, and take it after a release or its expiry', async () => {
    const server = await serve(store())
    const clock = { monotonic: 0 }
    const contender = (identity: string): LeaseLock =>
      new LeaseLock(
        createKubeLeaseStore(createClient([server.url]), { namespace: 'n', name: 'l' }, 5000),
        { identity, duration: 30_000 },
        () => ({
          wall,
          monotonic: clock.monotonic,
        }),
      )
    const [a, b] = [contender('a'), contender('b')]
    const [first, second] = await Promise.all([a.tryAcquire(), b.tryAcquire()])
    expect(first.held).not.toBe(second.held)
    const [holder, other] = first.held ? [a, b] : [b, a]
    const name = first.held ? 'a' : 'b'
    expect(await holder.tryAcquire()).toEqual({
      held: true,
      until: 30_000,
      fence: { holder: name, transitions: 0 },
    })
    expect(await other.tryAcquire()).toEqual({ held: false, holder: name, left: 30_000 })

    expect(await other.release()).toBe(false)
    expect(await holder.release()).toBe(true)
    expect(await other.acquire(1, signal)).toMatchObject({ held: true, fence: { transitions: 1 } })

    expect((await holder.tryAcquire()).held).toBe(false)
    clock.monotonic = 29_999
    expect((await holder.tryAcquire()).held).toBe(false)
    clock.monotonic = 30_000
    expect((await holder.tryAcquire()).held).toBe(true)
    expect((await other.tryAcquire()).held).toBe(false)
  })

  test('stop waiting after an abort', async () => {
    const server = await serve(store())
    const lock = (identity: string): LeaseLock =>
      new LeaseLock(createKubeLeaseStore(createClient([server.url]), { namespace: 'n', name: 'l' }, 5000), {
        identity,
        duration: 30_000,
      })
    await lock('a').tryAcquire()
    const controller = new AbortController()
    const reason = new Error('enough')
    const waiting = lock('b').acquire(5, controller.signal)
    setImmediate(() => controller.abort(reason))
    await expect(waiting).rejects.toBe(reason)
  })
})
