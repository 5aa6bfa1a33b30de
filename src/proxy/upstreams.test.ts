import { describe, expect, test } from 'vitest'
import {
  applyObservation,
  createUpstream,
  findRestartDeadline,
  isDead,
  isSettled,
  orderUpstreams,
  type Upstream,
  type UpstreamCandidate,
  type UpstreamObservation,
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
])('the observations %j result in %j', (observations, expected) => {
  expect(after(...observations)).toMatchObject(expected)
})

test('a server that rejects the probe has unknown health', () => {
  const unclear = { kind: 'unclear', reason: 'rejects the probe: 401' } as const
  expect(after(refused, refused, unclear)).toMatchObject({
    health: 'unknown',
    failures: 0,
    reason: unclear.reason,
  })
})

test('a failed probe does not count if a later probe has succeeded already', () => {
  const healthy = applyObservation(createUpstream(0), ready, 1200, 1210)
  expect(applyObservation(healthy, silent, 1000, 2000)).toBe(healthy)
  expect(applyObservation(healthy, silent, 1300, 2300)).toMatchObject({ failures: 1 })
})

describe('an upstream is dead after three unreachable probes', () => {
  test.each<[boolean, UpstreamObservation[]]>([
    [true, [ready, silent, silent, silent]],
    [true, [ready, unready, refused, refused, silent]],
    [false, [ready, silent, silent]],
    [false, [ready, unready, unready, unready, unready]],
    [false, [silent, silent, unready]],
    [false, [silent, silent, silent, ready]],
  ])('isDead is %j after %j', (dead, observations) => {
    expect(isDead(after(...observations))).toBe(dead)
  })
})

describe('an upstream is settled', () => {
  test('at its first ready probe', () => {
    expect(isSettled(after(ready), 1000, 5000)).toBe(true)
  })
  test('only after the settle time, if it was unhealthy before', () => {
    const returned = after(silent, silent, ready)
    expect(isSettled(returned, 7999, 5000)).toBe(false)
    expect(isSettled(returned, 8000, 5000)).toBe(true)
  })
  test('never while it is unhealthy', () => {
    expect(isSettled(after(silent, silent), 1_000_000, 5000)).toBe(false)
  })
})

describe('a new connection waits for a restart', () => {
  test.each<[number, UpstreamObservation[][]]>([
    [12_000, [[ready, refused]]],
    [12_000, [[ready, refused, refused, unready, silent]]],
    [13_000, [[ready, unready, refused]]],
    [
      13_000,
      [
        [ready, refused],
        [ready, ready, refused],
      ],
    ],
  ])('until %d after %j', (deadline, servers) => {
    const upstreams = servers.map((observations) => after(...observations))
    expect(findRestartDeadline(upstreams, 10_000)).toBe(deadline)
  })

  test.each<[string, UpstreamObservation[][]]>([
    ['the server accepts connections', [[ready, unready, unready]]],
    ['the server responds again', [[ready, refused, ready]]],
    ['the server never responded', [[refused, refused]]],
    ['another server may be ready', [[ready, refused], [ready]]],
    [
      'another server does not respond',
      [
        [ready, refused],
        [ready, silent, silent],
      ],
    ],
    ['there is no server', []],
  ])('never if %s', (_, servers) => {
    const upstreams = servers.map((observations) => after(...observations))
    expect(findRestartDeadline(upstreams, 10_000)).toBe(-Infinity)
  })
})

const settle = 5000

function candidate(
  server: string,
  kinds: readonly UpstreamObservation['kind'][],
  local = false,
): UpstreamCandidate {
  const upstream = kinds.reduce(
    (before, kind, index) => applyObservation(before, { kind, reason: kind }, index, index),
    createUpstream(0),
  )
  return { server, upstream, local }
}

test('healthy servers take turns', () => {
  const three = ['a', 'b', 'c'].map((name) => candidate(name, ['ready']))
  const firsts = [0, 1, 2, 3, 4, 5].map((turn) => orderUpstreams(three, turn, 0, settle)[0])
  expect(firsts).toEqual(['a', 'b', 'c', 'a', 'b', 'c'])
})

test('the local server comes first while it is healthy, and last while it is unhealthy', () => {
  const others = ['a', 'b'].map((name) => candidate(name, ['ready']))
  for (const turn of [0, 1, 2]) {
    expect(orderUpstreams([...others, candidate('here', ['ready'], true)], turn, 0, settle)[0]).toBe('here')
    expect(
      orderUpstreams([...others, candidate('here', ['silent', 'silent'], true)], turn, 0, settle)[2],
    ).toBe('here')
  }
})

test('a recovered local server comes second until it is settled', () => {
  const flapping = candidate('here', ['silent', 'silent', 'ready'], true)
  const steady = candidate('a', ['ready'])
  expect(orderUpstreams([flapping, steady], 0, 100, settle)).toEqual(['a', 'here'])
  expect(orderUpstreams([flapping, steady], 0, 10_000, settle)).toEqual(['here', 'a'])
})

test('if all servers are unhealthy, the earliest failure is tried first', () => {
  const long = candidate('long', ['silent', 'silent'])
  const short = candidate('short', ['ready', 'ready', 'silent', 'silent'])
  expect(orderUpstreams([short, long], 0, 100, settle)).toEqual(['long', 'short'])
})
