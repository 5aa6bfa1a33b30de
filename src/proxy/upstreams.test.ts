import { describe, expect, test } from 'vitest'
import {
  isDead,
  isSettled,
  type UpstreamObservation,
  applyObservation,
  createUpstream,
  type Upstream,
} from './upstreams.ts'

const ready: UpstreamObservation = { kind: 'ready' }
const silent: UpstreamObservation = { kind: 'silent', reason: 'no answer in time' }
const refused: UpstreamObservation = { kind: 'refused', reason: 'ECONNREFUSED' }
const unready: UpstreamObservation = { kind: 'unready', reason: 'answers 500: shutdown' }

/** Applies one observation per second. Each probe started one millisecond before its result. */
function after(...observations: readonly UpstreamObservation[]): Upstream {
  return observations.reduce(
    (upstream, one, index) => applyObservation(upstream, one, index * 1000 + 999, index * 1000 + 1000),
    createUpstream(0),
  )
}

test.each<[UpstreamObservation[], Partial<Upstream>]>([
  [[], { health: 'unknown', since: 0 }],
  [[ready], { health: 'healthy', since: 1000, recovered: false }],
  [[ready, ready], { health: 'healthy', since: 1000 }],
  [[silent], { health: 'unknown', failures: 1 }],
  [[ready, silent], { health: 'healthy', since: 1000, failures: 1, failingSince: 1999 }],
  [[ready, silent, ready], { health: 'healthy', since: 1000, failures: 0, failingSince: undefined }],
  [[ready, silent, silent], { health: 'unhealthy', since: 3000, failingSince: 1999, reason: silent.reason }],
  [[ready, unready, silent], { health: 'unhealthy', unreachableCount: 1 }],
  [[unready, unready, ready], { health: 'healthy', since: 3000, recovered: true, reason: undefined }],
])('%j', (observations, expected) => {
  expect(after(...observations)).toMatchObject(expected)
})

test('one that rejects the probe is unknown', () => {
  const unclear = { kind: 'unclear', reason: 'rejects the probe: 401' } as const
  expect(after(refused, refused, unclear)).toMatchObject({
    health: 'unknown',
    failures: 0,
    reason: unclear.reason,
  })
})

test('a failure of a probe that began before a later successful one does not count', () => {
  const healthy = applyObservation(createUpstream(0), ready, 1200, 1210)
  expect(applyObservation(healthy, silent, 1000, 2000)).toBe(healthy)
  expect(applyObservation(healthy, silent, 1300, 2300)).toMatchObject({ failures: 1 })
})

describe('dead', () => {
  test.each<[boolean, UpstreamObservation[]]>([
    [true, [ready, silent, silent, silent]],
    [true, [ready, unready, refused, refused, silent]],
    [false, [ready, silent, silent]],
    [false, [ready, unready, unready, unready, unready]],
    [false, [silent, silent, unready]],
    [false, [silent, silent, silent, ready]],
  ])('%j after %j', (dead, observations) => {
    expect(isDead(after(...observations))).toBe(dead)
  })
})

describe('settled', () => {
  test('at once, at first', () => {
    expect(isSettled(after(ready), 1000, 5000)).toBe(true)
  })
  test('after a while, once it was unhealthy', () => {
    const returned = after(silent, silent, ready)
    expect(isSettled(returned, 7999, 5000)).toBe(false)
    expect(isSettled(returned, 8000, 5000)).toBe(true)
  })
  test('never, when it is not healthy', () => {
    expect(isSettled(after(silent, silent), 1_000_000, 5000)).toBe(false)
  })
})
