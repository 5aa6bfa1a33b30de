import { expect, test } from 'vitest'
import type { UnitState } from '../host/systemd.ts'
import { idleUnit } from '../host/testing/idle-unit.ts'
import { beginWatch, patienceWith, type Verdict, verdict, watchOn } from './start-status.ts'

const idle: UnitState = { ...idleUnit, type: 'notify' }
const starting: UnitState = { ...idle, active: 'activating', sub: 'start', busy: true, invocation: '1' }
const up: UnitState = { ...idle, active: 'active', sub: 'running', invocation: '1', pid: 7 }
const again: UnitState = {
  ...idle,
  active: 'activating',
  sub: 'auto-restart',
  result: 'exit-code',
  status: 1,
}

/** What is thought at the end of some looks, each at its time in seconds. */
function after(
  looks: readonly (readonly [seconds: number, state: UnitState])[],
  { before = idle, former = undefined as string | undefined } = {},
): Verdict {
  let watch = beginWatch('x.service', before, former, 0, 60_000)
  let last: Verdict = { is: 'waiting', for: '' }
  for (const [seconds, state] of looks) {
    watch = watchOn(watch, state, seconds * 1000)
    last = verdict(watch, state, seconds * 1000)
  }
  return last
}

test('one that tells when it is ready runs as soon as it does', () => {
  expect(after([[0, starting]])).toEqual({ is: 'waiting', for: 'x.service to run (activating, start)' })
  expect(
    after([
      [0, starting],
      [3, up],
    ]),
  ).toEqual({ is: 'running' })
})

test('one that does not tell runs once it has stayed', () => {
  const silent = { ...up, type: 'exec' }
  expect(after([[0, silent]])).toMatchObject({ is: 'waiting' })
  expect(
    after([
      [0, silent],
      [0.5, silent],
    ]),
  ).toMatchObject({ is: 'waiting' })
  expect(
    after([
      [0, silent],
      [1, silent],
    ]),
  ).toEqual({ is: 'running' })
  // Another start begins anew.
  expect(
    after([
      [0, silent],
      [1, { ...silent, invocation: '2' }],
    ]),
  ).toMatchObject({ is: 'waiting' })
})

test('a restart is over when another process runs', () => {
  expect(after([[0, up]], { before: up, former: '1' })).toMatchObject({ is: 'waiting' })
  expect(after([[0, { ...up, busy: true, invocation: '2' }]], { before: up, former: '1' })).toMatchObject({
    is: 'waiting',
  })
  expect(after([[1, { ...up, invocation: '2' }]], { before: up, former: '1' })).toEqual({ is: 'running' })
})

test('it may wait as long as it takes', () => {
  expect(
    after([
      [0, starting],
      [86_400, starting],
    ]),
  ).toMatchObject({ is: 'waiting' })
})

test('it may end a few times, or for a while, but not both', () => {
  const ends = (count: number): UnitState => ({ ...again, restarts: count })
  expect(
    after([
      [0, starting],
      [3, ends(1)],
      [100, starting],
    ]),
  ).toMatchObject({ is: 'waiting' })
  expect(
    after([
      [0, starting],
      [3, ends(4)],
    ]),
  ).toMatchObject({ is: 'waiting' })
  expect(
    after([
      [0, starting],
      [61, ends(4)],
    ]),
  ).toEqual({
    is: 'failed',
    how: 'activating, auto-restart; it has ended 4 times; the last time with exit-code 1',
  })
  // Also when it is looked at in the middle of its next try.
  expect(
    after([
      [0, starting],
      [50, ends(4)],
      [61, { ...starting, restarts: 4 }],
    ]),
  ).toMatchObject({ is: 'failed' })
})

test('ends before it was asked for do not count, and a count that begins anew does', () => {
  const before = { ...up, restarts: 9 }
  expect(after([[61, { ...again, restarts: 9 }]], { before })).toMatchObject({ is: 'waiting' })
  expect(
    after(
      [
        [1, { ...starting, restarts: 0 }],
        [61, { ...again, restarts: 3 }],
      ],
      { before },
    ),
  ).toMatchObject({ is: 'failed' })
})

test('what systemd itself cannot start needs no patience', () => {
  expect(
    after([
      [0, starting],
      [3, { ...again, status: 203, restarts: 1 }],
    ]),
  ).toEqual({
    is: 'failed',
    how: 'activating, auto-restart; it has ended once; the last time with exit-code 203',
  })
})

test('one that nobody starts again has failed', () => {
  expect(after([[0, { ...idle, active: 'failed', sub: 'failed', result: 'exit-code', status: 2 }]])).toEqual({
    is: 'failed',
    how: 'failed; the last time with exit-code 2',
  })
  expect(after([[0, idle]])).toMatchObject({ is: 'failed' })
  expect(after([[0, { ...idle, busy: true }]])).toMatchObject({ is: 'waiting' })
})

test('patience is that of the probes, and never less than a minute', () => {
  const probe = (every: number, failures: number, scope: 'local' | 'remote' = 'local') => ({
    name: 'x',
    scope,
    check: { kind: 'service' as const },
    every,
    timeout: 1000,
    failures,
  })
  expect(patienceWith({ probes: [] })).toBe(60_000)
  expect(patienceWith({ probes: [probe(5000, 6)] })).toBe(60_000)
  expect(patienceWith({ probes: [probe(10_000, 6), probe(1, 1)] })).toBe(120_000)
  expect(patienceWith({ probes: [probe(60_000, 6, 'remote')] })).toBe(60_000)
})

test('why it ended is not forgotten while it starts once more', () => {
  const verdictNow = after([
    [0, starting],
    [1, { ...again, restarts: 1 }],
    [2, { ...starting, restarts: 1 }],
  ])
  expect(verdictNow).toEqual({
    is: 'waiting',
    for: 'x.service to run (activating, start; it has ended once; the last time with exit-code 1)',
  })
})
