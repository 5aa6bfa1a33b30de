import { describe, expect, test } from 'vitest'
import { isDead, isSettled, type Observation, observe, unknownUpstream, type Upstream } from './upstreams.ts'

const ready: Observation = { kind: 'ready' }
const silent: Observation = { kind: 'silent', reason: 'no answer in time' }
const refused: Observation = { kind: 'refused', reason: 'ECONNREFUSED' }
const unready: Observation = { kind: 'unready', reason: 'answers 500: shutdown' }

/** One observation a second, each asked the moment before. */
function after(...seen: readonly Observation[]): Upstream {
  return seen.reduce(
    (upstream, one, index) => observe(upstream, one, index * 1000 + 999, index * 1000 + 1000),
    unknownUpstream(0),
  )
}

test.each<[Observation[], Partial<Upstream>]>([
  [[], { health: 'unknown', since: 0 }],
  [[ready], { health: 'well', since: 1000, returned: false }],
  [[ready, ready], { health: 'well', since: 1000 }],
  [[silent], { health: 'unknown', failures: 1 }],
  [[ready, silent], { health: 'well', since: 1000, failures: 1, failingSince: 1999 }],
  [[ready, silent, ready], { health: 'well', since: 1000, failures: 0, failingSince: undefined }],
  [[ready, silent, silent], { health: 'unwell', since: 3000, failingSince: 1999, reason: silent.reason }],
  [[ready, unready, silent], { health: 'unwell', unreachable: 1 }],
  [[unready, unready, ready], { health: 'well', since: 3000, returned: true, reason: undefined }],
])('%j', (seen, expected) => {
  expect(after(...seen)).toMatchObject(expected)
})

test('one that does not tell us is as good as unknown', () => {
  const unclear = { kind: 'unclear', reason: 'does not tell us: 401' } as const
  expect(after(refused, refused, unclear)).toMatchObject({
    health: 'unknown',
    failures: 0,
    reason: unclear.reason,
  })
})

test('who failed to answer before somebody asked later was answered, has not failed', () => {
  const well = observe(unknownUpstream(0), ready, 1200, 1210)
  expect(observe(well, silent, 1000, 2000)).toBe(well)
  expect(observe(well, silent, 1300, 2300)).toMatchObject({ failures: 1 })
})

describe('dead', () => {
  test.each<[boolean, Observation[]]>([
    [true, [ready, silent, silent, silent]],
    [true, [ready, unready, refused, refused, silent]],
    [false, [ready, silent, silent]],
    [false, [ready, unready, unready, unready, unready]],
    [false, [silent, silent, unready]],
    [false, [silent, silent, silent, ready]],
  ])('%j after %j', (dead, seen) => {
    expect(isDead(after(...seen))).toBe(dead)
  })
})

describe('settled', () => {
  test('at once, at first', () => {
    expect(isSettled(after(ready), 1000, 5000)).toBe(true)
  })
  test('after a while, once it was unwell', () => {
    const returned = after(silent, silent, ready)
    expect(isSettled(returned, 7999, 5000)).toBe(false)
    expect(isSettled(returned, 8000, 5000)).toBe(true)
  })
  test('never, when it is not well', () => {
    expect(isSettled(after(silent, silent), 1_000_000, 5000)).toBe(false)
  })
})
