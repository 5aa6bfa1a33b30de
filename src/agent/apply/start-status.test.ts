import { expect, test } from 'vitest'
import type { UnitState } from '../host/service-manager.ts'
import { idleUnit } from '../host/testing/idle-unit.ts'
import { beginWatch, startTimeoutMs, type StartStatus, readStartStatus, updateWatch } from './start-status.ts'

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

/** Returns the status after a sequence of observations, each with its time in seconds. */
function statusAfter(
  observations: readonly (readonly [seconds: number, state: UnitState])[],
  { before = idle, previous = undefined as string | undefined } = {},
): StartStatus {
  let watch = beginWatch('x.service', before, previous, 0, 60_000)
  let last: StartStatus = { is: 'waiting', for: '' }
  for (const [seconds, state] of observations) {
    watch = updateWatch(watch, state, seconds * 1000)
    last = readStartStatus(watch, state, seconds * 1000)
  }
  return last
}

test('a service that notifies runs as soon as it is ready', () => {
  expect(statusAfter([[0, starting]])).toEqual({ is: 'waiting', for: 'x.service to run (activating, start)' })
  expect(
    statusAfter([
      [0, starting],
      [3, up],
    ]),
  ).toEqual({ is: 'running' })
})

test('a service without notification counts as running after one second', () => {
  const silent = { ...up, type: 'exec' }
  expect(statusAfter([[0, silent]])).toMatchObject({ is: 'waiting' })
  expect(
    statusAfter([
      [0, silent],
      [0.5, silent],
    ]),
  ).toMatchObject({ is: 'waiting' })
  expect(
    statusAfter([
      [0, silent],
      [1, silent],
    ]),
  ).toEqual({ is: 'running' })
  // With a new invocation, the time that the service must run before it counts as ready begins again.
  expect(
    statusAfter([
      [0, silent],
      [1, { ...silent, invocation: '2' }],
    ]),
  ).toMatchObject({ is: 'waiting' })
})

test('a restart is complete when a new process runs', () => {
  expect(statusAfter([[0, up]], { before: up, previous: '1' })).toMatchObject({ is: 'waiting' })
  expect(
    statusAfter([[0, { ...up, busy: true, invocation: '2' }]], { before: up, previous: '1' }),
  ).toMatchObject({
    is: 'waiting',
  })
  expect(statusAfter([[1, { ...up, invocation: '2' }]], { before: up, previous: '1' })).toEqual({
    is: 'running',
  })
})

test('a service that does not exit may take any time to start', () => {
  expect(
    statusAfter([
      [0, starting],
      [86_400, starting],
    ]),
  ).toMatchObject({ is: 'waiting' })
})

test('a start fails only after several exits and after the timeout', () => {
  const ends = (count: number): UnitState => ({ ...again, restarts: count })
  expect(
    statusAfter([
      [0, starting],
      [3, ends(1)],
      [100, starting],
    ]),
  ).toMatchObject({ is: 'waiting' })
  expect(
    statusAfter([
      [0, starting],
      [3, ends(4)],
    ]),
  ).toMatchObject({ is: 'waiting' })
  expect(
    statusAfter([
      [0, starting],
      [61, ends(4)],
    ]),
  ).toEqual({
    is: 'failed',
    how: 'activating, auto-restart; exited 4 times; last exit: exit-code 1',
  })
  // The start counts as failed even if the service is already starting again when it is observed.
  expect(
    statusAfter([
      [0, starting],
      [50, ends(4)],
      [61, { ...starting, restarts: 4 }],
    ]),
  ).toMatchObject({ is: 'failed' })
})

test('exits before the start do not count, and exits after a counter reset do', () => {
  const before = { ...up, restarts: 9 }
  expect(statusAfter([[61, { ...again, restarts: 9 }]], { before })).toMatchObject({ is: 'waiting' })
  expect(
    statusAfter(
      [
        [1, { ...starting, restarts: 0 }],
        [61, { ...again, restarts: 3 }],
      ],
      { before },
    ),
  ).toMatchObject({ is: 'failed' })
})

test('a program that systemd cannot execute fails at once', () => {
  expect(
    statusAfter([
      [0, starting],
      [3, { ...again, status: 203, restarts: 1 }],
    ]),
  ).toEqual({
    is: 'failed',
    how: 'activating, auto-restart; exited once; last exit: exit-code 203',
  })
})

test('a service that is not restarted has failed', () => {
  expect(
    statusAfter([[0, { ...idle, active: 'failed', sub: 'failed', result: 'exit-code', status: 2 }]]),
  ).toEqual({
    is: 'failed',
    how: 'failed; last exit: exit-code 2',
  })
  expect(statusAfter([[0, idle]])).toMatchObject({ is: 'failed' })
  expect(statusAfter([[0, { ...idle, busy: true }]])).toMatchObject({ is: 'waiting' })
})

test('the start timeout is twice the time of the local probes, and at least a minute', () => {
  const probe = (intervalMs: number, failureThreshold: number, scope: 'local' | 'remote' = 'local') => ({
    name: 'x',
    scope,
    check: { kind: 'service' as const },
    intervalMs,
    timeoutMs: 1000,
    failureThreshold,
  })
  expect(startTimeoutMs({ stage: 'api', probes: [] })).toBe(60_000)
  expect(startTimeoutMs({ stage: 'api', probes: [probe(5000, 6)] })).toBe(60_000)
  expect(startTimeoutMs({ stage: 'api', probes: [probe(10_000, 6), probe(1, 1)] })).toBe(120_000)
  expect(startTimeoutMs({ stage: 'api', probes: [probe(60_000, 6, 'remote')] })).toBe(60_000)
  expect(startTimeoutMs({ stage: 'etcd', probes: [probe(10_000, 6)] })).toBe(30_000)
})

test('the reason of the last exit is kept while the service starts again', () => {
  const verdictNow = statusAfter([
    [0, starting],
    [1, { ...again, restarts: 1 }],
    [2, { ...starting, restarts: 1 }],
  ])
  expect(verdictNow).toEqual({
    is: 'waiting',
    for: 'x.service to run (activating, start; exited once; last exit: exit-code 1)',
  })
})
