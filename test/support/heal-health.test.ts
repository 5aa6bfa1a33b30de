import { expect, test } from 'vitest'
import type { HealAction, HostHealth, ProbeHealth } from '../../src/contract/health.ts'
import { actionsSince, detectedSince, saysWell } from './heal-health.ts'

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
const did = (action: HealAction['action'], when: number): HealAction => ({
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

test('detected is the first that is known of it, and nothing from before', () => {
  const actions = [did('recovered', 60), did('restart', 45), did('restart', 10)]
  expect(detectedSince({ probes: [probe('failing', 40)], actions }, 20_000)).toBe(40_000)
  expect(detectedSince({ probes: [probe('well', 60)], actions }, 20_000)).toBe(45_000)
  expect(
    detectedSince({ probes: [probe('shaky', 30)], actions: [did('restart', 10)] }, 20_000),
  ).toBeUndefined()
})

test('what was done is told from the oldest on', () => {
  const actions = [did('recovered', 60), did('rebuild', 50), did('restart', 45), did('restart', 10)]
  expect(actionsSince({ actions }, 20_000).map(({ action }) => action)).toEqual(['restart', 'rebuild'])
})

test('an agent says that a host is well whatever it thinks of the world', () => {
  expect(saysWell({ components: [component('well')], probes: [probe('failing', 0, 'remote')] })).toBe(true)
  expect(saysWell({ components: [component('well')], probes: [probe('failing', 0)] })).toBe(false)
  expect(saysWell({ components: [component('healing')], probes: [] })).toBe(false)
})
