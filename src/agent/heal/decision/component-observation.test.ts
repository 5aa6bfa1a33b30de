import { expect, test } from 'vitest'
import type { UnitState } from '../../host/service-manager.ts'
import { idleUnit } from '../../host/testing/idle-unit.ts'
import {
  isCrashLooping,
  measureDowntime,
  type UnitObservation,
  updateUnitObservation,
} from './component-observation.ts'

const runs: UnitState = {
  ...idleUnit,
  ...{ active: 'active', sub: 'running', pid: 7, invocation: 'a', type: 'notify' },
}
const [grace, first] = [60_000, updateUnitObservation('x.service', undefined, runs, 1000)]
const then = (before: UnitObservation, state: Partial<UnitState>, now: number): UnitObservation =>
  updateUnitObservation('x.service', before, { ...before.state, ...state }, now)

test('a new invocation sets started, and neverHealthySince stays at the first failed start', () => {
  const crashed = then({ ...first, wasHealthy: true }, { invocation: 'b', restarts: 1 }, 50_000)
  expect(crashed).toMatchObject({ started: 50_000, neverHealthySince: 50_000, wasHealthy: false })
  const again = then(
    then(crashed, { invocation: 'c', restarts: 2 }, 60_000),
    { invocation: 'd', restarts: 3 },
    70_000,
  )
  expect(again).toMatchObject({ started: 70_000, neverHealthySince: 50_000 })
  // systemd resets the restart count to 0 when a person starts the service.
  expect(then(again, { invocation: 'e', restarts: 0 }, 80_000)).toMatchObject({
    started: 80_000,
    neverHealthySince: 80_000,
  })
})

test('a service that restarts repeatedly is crash-looping; a running or failed one is not', () => {
  expect(isCrashLooping(first, grace, 200_000)).toBe(false)
  const waits = then(first, { active: 'activating', sub: 'auto-restart' }, 100_000)
  expect(isCrashLooping(waits, grace, 200_000)).toBe(true)
  const young = then(first, { invocation: 'b', restarts: 1 }, 190_000)
  expect([isCrashLooping(young, grace, 200_000), isCrashLooping(young, grace, 250_000)]).toEqual([
    true,
    false,
  ])
  const down = then(young, { active: 'failed', sub: 'failed' }, 195_000)
  expect(isCrashLooping(down, grace, 200_000)).toBe(false)
  expect([measureDowntime(down, 200_000), measureDowntime(young, 200_000)]).toEqual([5000, 0])
  expect(measureDowntime(then(down, { busy: true }, 196_000), 200_000)).toBe(0)
})
