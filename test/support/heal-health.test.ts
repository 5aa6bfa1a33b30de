import { expect, test } from 'vitest'
import type { HealAction, HostHealth, ProbeHealth } from '../../src/contract/health.ts'
import { listActionsSince, findDetectionTime, isHostHealthy } from './heal-health.ts'

const at = (seconds: number): string => new Date(seconds * 1000).toISOString()
const probe = (
  state: ProbeHealth['state'],
  since: number,
  scope: ProbeHealth['scope'] = 'local',
): ProbeHealth => ({
  component: 'kubelet',
  probe: 'healthz',
  scope,
  state,
  since: at(since),
})
const createAction = (action: HealAction['action'], when: number): HealAction => ({
  at: at(when),
  component: 'kubelet',
  action,
  because: 'it does not answer',
  outcome: 'done',
  details: [],
})
const component = (state: HostHealth['components'][number]['state']): HostHealth['components'][number] => ({
  component: 'kubelet',
  state,
  since: at(0),
  drift: [],
})

test('the detection time is the first sign after the start of the fault', () => {
  const actions = [createAction('recovered', 60), createAction('restart', 45), createAction('restart', 10)]
  expect(findDetectionTime({ probes: [probe('unhealthy', 40)], actions }, 20_000)).toBe(40_000)
  expect(findDetectionTime({ probes: [probe('healthy', 60)], actions }, 20_000)).toBe(45_000)
  expect(
    findDetectionTime({ probes: [probe('degraded', 30)], actions: [createAction('restart', 10)] }, 20_000),
  ).toBeUndefined()
})

test('actions are listed oldest first', () => {
  const actions = [
    createAction('recovered', 60),
    createAction('regenerate', 50),
    createAction('restart', 45),
    createAction('restart', 10),
  ]
  expect(listActionsSince({ actions }, 20_000).map(({ action }) => action)).toEqual(['restart', 'regenerate'])
})

test('remote probes do not affect whether a host is healthy', () => {
  expect(
    isHostHealthy({ components: [component('healthy')], probes: [probe('unhealthy', 0, 'remote')] }),
  ).toBe(true)
  expect(isHostHealthy({ components: [component('healthy')], probes: [probe('unhealthy', 0)] })).toBe(false)
  expect(isHostHealthy({ components: [component('healing')], probes: [] })).toBe(false)
})
