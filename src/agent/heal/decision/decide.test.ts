import { expect, test } from 'vitest'
import type { HealState } from '../../../contract/health.ts'
import type { UnitState } from '../../host/service-manager.ts'
import { idleUnit } from '../../host/testing/idle-unit.ts'
import { recordActions } from './action-history.ts'
import type { ComponentObservation, ProbeObservation, UnitObservation } from './component-observation.ts'
import { decideHealing } from './decide.ts'
import type { DecisionInput } from './decision-input.ts'
import {
  defaultHealBudget,
  defaultPolicy,
  type EscalationPolicy,
  legacyScriptPolicy,
} from './escalation-policy.ts'
import { emptyHealState } from './testing/model-host.ts'

const [start, second, minute] = [Date.UTC(2027, 0, 1), 1000, 60_000]
const at = (time: number): string => new Date(time).toISOString()

function observeProbe(
  component: string,
  state: ProbeObservation['state'],
  more: Partial<ProbeObservation> = {},
): ProbeObservation {
  const failed =
    state === 'unhealthy' ? { message: 'no answer within 5.0 s', code: 'HEALTH_NO_RESPONSE' } : {}
  const rest = {
    probe: 'healthz',
    scope: 'local',
    kind: 'http',
    since: at(start),
    observedAt: start,
  } as const
  return { component, ...rest, ...failed, state, ...more }
}

function observeUnit(
  component: string,
  state: Partial<UnitState> = {},
  more: Partial<UnitObservation> = {},
): UnitObservation {
  return {
    name: `${component}.service`,
    state: {
      ...{ ...idleUnit, active: 'active', sub: 'running', pid: 7, invocation: 'a', type: 'notify' },
      ...state,
    },
    ...{ started: 0, neverHealthySince: 0, changed: 0, wasHealthy: true },
    ...more,
  }
}

function observeComponent(component: string, more: Partial<ComponentObservation> = {}): ComponentObservation {
  return {
    component,
    needs: [],
    unit: observeUnit(component),
    probes: [observeProbe(component, 'healthy')],
    slowestProbeMs: 30 * second,
    drifted: [],
    unrepairable: [],
    ...more,
  }
}

const observeHung = (component: string, more: Partial<ComponentObservation> = {}): ComponentObservation =>
  observeComponent(component, { probes: [observeProbe(component, 'unhealthy')], ...more })

function decideFor(components: readonly ComponentObservation[], more: Partial<DecisionInput> = {}) {
  return decideHealing({
    ...{
      now: start + 10 * minute,
      observedSince: 0,
      healState: emptyHealState,
      policy: defaultPolicy,
      budget: defaultHealBudget,
    },
    components,
    ...more,
  })
}

/**
 * Simulates a component whose observation never changes. Returns each step or notice with the seconds since
 * the previous one.
 */
function simulate(observed: ComponentObservation, policy: EscalationPolicy, until: number): string[] {
  const entries: string[] = []
  let healState: HealState = emptyHealState
  let [last, now] = [start, start]
  for (; now <= start + until; now += 5 * second) {
    const decision = decideHealing({
      now,
      observedSince: 0,
      components: [observed],
      healState,
      policy,
      budget: defaultHealBudget,
    })
    const all = [...decision.steps.map(({ component, actions }) => `${component} ${actions.join(' ')}`)]
    all.push(...decision.notices.map(({ component, action }) => `${component} ${action}`))
    for (const one of all) entries.push(`${(now - last) / second} ${one}`)
    if (all.length > 0) last = now
    const done = decision.steps.flatMap(({ component, because, actions }) =>
      actions.map((action) => ({
        at: at(now),
        component,
        action,
        because,
        outcome: 'done' as const,
        details: [],
      })),
    )
    healState = recordActions(decision.healState, done)
  }
  return entries
}

test('the default policy: restart, regenerate, capture logs, retry with growing pauses, give up, and try again every hour', () => {
  expect(simulate(observeHung('kubelet'), defaultPolicy, 100 * minute)).toEqual([
    '0 kubelet restart',
    '60 kubelet regenerate restart',
    '60 kubelet capture-logs restart',
    '60 kubelet restart',
    '60 kubelet restart',
    '120 kubelet restart',
    '300 kubelet restart',
    '600 kubelet restart',
    '60 kubelet give-up',
    '3600 kubelet regenerate restart',
  ])
})

test('the legacy script policy has exact intervals', () => {
  expect(simulate(observeHung('flanneld'), legacyScriptPolicy, 4 * minute)).toEqual([
    '0 flanneld restart',
    '20 flanneld restart',
    '20 flanneld restart',
    '20 apiserver-proxy restart',
    '20 flanneld restart',
    '20 flanneld restart',
    '20 flanneld capture-logs restart',
    '20 flanneld give-up',
  ])
  expect(simulate(observeHung('kubelet'), legacyScriptPolicy, minute).slice(0, 2)).toEqual([
    '0 kubelet restart',
    '15 kubelet restart',
  ])
  expect(simulate(observeHung('kube-proxy'), legacyScriptPolicy, minute).slice(0, 2)).toEqual([
    '0 kube-proxy restart',
    '10 kube-proxy restart',
  ])
  expect(simulate(observeHung('etcd'), legacyScriptPolicy, 2 * minute).slice(0, 2)).toEqual([
    '0 etcd restart',
    '60 etcd regenerate restart',
  ])
})

test('systemd restarts a crash-looping service: healing only regenerates its files, captures logs and gives up', () => {
  const looping = observeHung('kubelet', {
    unit: observeUnit('kubelet', { active: 'activating', sub: 'auto-restart' }, { wasHealthy: false }),
  })
  expect(simulate(looping, defaultPolicy, 40 * minute)).toEqual([
    '60 kubelet regenerate',
    '60 kubelet capture-logs',
    '1200 kubelet give-up',
  ])
  const { steps } = decideFor([{ ...looping, drifted: ['/etc/kubelet'] }])
  expect(steps.map(({ actions }) => actions)).toEqual([['repair']])
})

test('drift is repaired before a restart; a healthy component is repaired without a restart', () => {
  const drifted = ['/etc/kubelet']
  const actions = (observed: ComponentObservation): unknown =>
    decideFor([observed]).steps.map((step) => step.actions)
  expect(actions(observeHung('kubelet', { drifted }))).toEqual([['repair', 'restart']])
  expect(actions(observeComponent('kubelet', { drifted }))).toEqual([['repair']])
})

test('repeated drift of the same file is repaired every minute, then every ten minutes', () => {
  const entries = simulate(
    observeComponent('kubelet', { drifted: ['/etc/kubelet'] }),
    defaultPolicy,
    30 * minute,
  )
  expect(entries.slice(0, 12)).toEqual(
    ['0', ...Array<string>(9).fill('60'), '600', '600'].map((one) => `${one} kubelet repair`),
  )
})

test('a service that is still activating is healthy if its local probes succeed', () => {
  const unit = observeUnit('etcd', { active: 'activating', sub: 'start' })
  const quorum = observeProbe('etcd', 'unhealthy', { scope: 'remote' })
  const { steps, components } = decideFor([
    observeComponent('etcd', { unit, probes: [observeProbe('etcd', 'healthy'), quorum] }),
  ])
  expect(steps).toEqual([])
  expect(components).toMatchObject([{ component: 'etcd', state: 'healthy' }])
})

test('a stopped service is started after a while', () => {
  const stopped = (since: number): ComponentObservation =>
    observeComponent('kubelet', {
      unit: observeUnit('kubelet', { active: 'inactive', sub: 'dead' }, { changed: since }),
      probes: [observeProbe('kubelet', 'degraded')],
    })
  const now = start + 10 * minute
  expect(decideFor([stopped(now - 5 * second)]).steps).toEqual([])
  expect(decideFor([stopped(now - 10 * second)]).steps).toMatchObject([
    { component: 'kubelet', actions: ['restart'], code: 'HEALTH_NOT_RUNNING' },
  ])
  expect(decideFor([{ ...stopped(0), stoppedByOperator: true }])).toMatchObject({
    steps: [],
    components: [{ state: 'blocked', because: 'an operator stopped the service' }],
  })
})

test('a service that was not yet healthy gets its start grace', () => {
  const now = start + 10 * minute
  const young = observeUnit(
    'kubelet',
    {},
    { started: now - 59 * second, neverHealthySince: now - 59 * second },
  )
  expect(decideFor([observeHung('kubelet', { unit: young })]).steps).toEqual([])
  expect(decideFor([observeHung('kubelet', { unit: young })], { now: now + second }).steps).toHaveLength(1)
})

test('a first start that is busy gets five minutes; an idle one, and one that exited before, get the grace', () => {
  const now = start + 10 * minute
  const stepsAfter = (ms: number, more: Partial<ComponentObservation> = {}): number => {
    const since = { started: now - ms, neverHealthySince: now - ms, wasHealthy: false }
    return decideFor([observeHung('kubelet', { unit: observeUnit('kubelet', {}, since), ...more })]).steps
      .length
  }
  expect([stepsAfter(299 * second), stepsAfter(5 * minute)]).toEqual([0, 1])
  const idle = { probes: [observeProbe('kubelet', 'unhealthy', { isConfirmedHang: true })] }
  expect([stepsAfter(59 * second, idle), stepsAfter(minute, idle)]).toEqual([0, 1])
  const refused = { probes: [observeProbe('kubelet', 'unhealthy', { code: 'HEALTH_CHECK_FAILED' })] }
  expect([stepsAfter(59 * second, refused), stepsAfter(minute, refused)]).toEqual([0, 1])
  const exitedOnce = { started: now - minute, neverHealthySince: now - 61 * second, wasHealthy: false }
  expect(stepsAfter(0, { unit: observeUnit('kubelet', {}, exitedOnce) })).toBe(1)
})

const observeConfirmedHang = (
  component: string,
  more: Partial<ComponentObservation> = {},
): ComponentObservation =>
  observeHung(component, {
    probes: [observeProbe(component, 'unhealthy', { isConfirmedHang: true })],
    ...more,
  })

test('a confirmed hang of a service that was healthy does not wait for the start grace', () => {
  const now = start + 10 * minute
  const since = { started: now - 20 * second, neverHealthySince: now - 20 * second }
  const stepsFor = (unit: UnitObservation): number =>
    decideFor([observeConfirmedHang('kubelet', { unit })]).steps.length
  expect(stepsFor(observeUnit('kubelet', {}, since))).toBe(1)
  expect(stepsFor(observeUnit('kubelet', {}, { ...since, wasHealthy: false }))).toBe(0)
  expect(stepsFor(observeUnit('kubelet', { active: 'deactivating' }, { ...since, changed: now }))).toBe(0)
  expect(decideFor([observeHung('kubelet', { unit: observeUnit('kubelet', {}, since) })]).steps).toEqual([])
})

test('a confirmed hang does not wait for a dependency that became healthy recently, but for an unhealthy one', () => {
  const now = start + 10 * minute
  const recent = observeComponent('containerd', {
    probes: [observeProbe('containerd', 'healthy', { since: at(now - second) })],
  })
  const hung = observeConfirmedHang('kubelet', { needs: ['containerd'] })
  expect(decideFor([hung, recent]).steps).toMatchObject([{ component: 'kubelet', actions: ['restart'] }])
  const unhealthy = observeHung('containerd')
  expect(decideFor([hung, unhealthy]).steps).toMatchObject([{ component: 'containerd' }])
})

test.each(['unhealthy', 'degraded'] as const)('a component waits for a dependency that is %s', (state) => {
  const need = observeComponent('containerd', { probes: [observeProbe('containerd', state)] })
  const { steps, components } = decideFor([observeHung('kubelet', { needs: ['containerd'] }), need])
  expect(steps.map(({ component }) => component)).toEqual(state === 'unhealthy' ? ['containerd'] : [])
  expect(components).toMatchObject([{ component: 'containerd' }, { component: 'kubelet', state: 'blocked' }])
})

test('a component waits until its dependency was healthy for the grace period', () => {
  const now = start + 10 * minute
  const need = observeComponent('containerd', {
    probes: [observeProbe('containerd', 'healthy', { since: at(now - 59 * second) })],
  })
  const components = [observeHung('kubelet', { needs: ['containerd'] }), need]
  expect(decideFor(components).steps).toEqual([])
  expect(decideFor(components, { now: now + second }).steps).toHaveLength(1)
})

test('a component that exits or reports a failure waits while its dependency does not serve it; a hanging one is restarted', () => {
  const unreachable = observeProbe('apiserver-proxy', 'unhealthy', { probe: 'api', scope: 'remote' })
  const proxy = observeComponent('apiserver-proxy', {
    probes: [observeProbe('apiserver-proxy', 'healthy'), unreachable],
  })
  const stepsFor = (more: Partial<ComponentObservation>): number =>
    decideFor([proxy, observeHung('kubelet', { needs: ['apiserver-proxy'], ...more })]).steps.length
  const looping = observeUnit('kubelet', { active: 'activating', sub: 'auto-restart' })
  expect(stepsFor({})).toBe(1)
  expect(stepsFor({ unit: looping })).toBe(0)
  expect(stepsFor({ unit: observeUnit('kubelet', {}, { wasHealthy: false }) })).toBe(0)
  expect(stepsFor({ probes: [observeProbe('kubelet', 'unhealthy', { code: 'HEALTH_CHECK_FAILED' })] })).toBe(
    0,
  )
  // A failing remote probe of a dependency can block a restart. A probe of kind `certificate` cannot, because
  // it does not check whether the dependency can serve others.
  const certificateProbe: ProbeObservation = { ...unreachable, kind: 'certificate' }
  const other = { ...proxy, probes: [observeProbe('apiserver-proxy', 'healthy'), certificateProbe] }
  const never = observeHung('kubelet', {
    needs: ['apiserver-proxy'],
    unit: observeUnit('kubelet', {}, { wasHealthy: false }),
  })
  expect(decideFor([other, never]).steps).toHaveLength(1)
})

test('failing remote probes and unknown probes cause no step', () => {
  const probes = [
    observeProbe('kubelet', 'unknown'),
    observeProbe('kubelet', 'unhealthy', { scope: 'remote' }),
  ]
  expect(decideFor([observeComponent('kubelet', { probes })])).toMatchObject({
    steps: [],
    notices: [],
    healState: { escalations: {} },
  })
})

test('a data risk blocks healing, is reported once with a command, and ends with recovery', () => {
  const dataRisk = { code: 'ETCD_DATA_LOST', because: 'its data is gone', hint: 'hyperkube node remove cp1' }
  const lost = observeHung('etcd', { dataRisk, drifted: ['/var/lib/etcd'] })
  const first = decideFor([lost])
  expect(first).toMatchObject({
    steps: [],
    notices: [{ component: 'etcd', action: 'refuse', code: dataRisk.code, details: [dataRisk.hint] }],
    components: [{ state: 'blocked', code: dataRisk.code, because: dataRisk.because }],
  })
  const again = decideFor([lost], { healState: first.healState, now: start + 11 * minute })
  expect([again.steps, again.notices]).toEqual([[], []])
  const healthy = decideFor([observeComponent('etcd')], {
    healState: again.healState,
    now: start + 12 * minute,
  })
  expect(healthy.notices).toMatchObject([{ component: 'etcd', action: 'recovered' }])
  expect(healthy.healState.escalations).toEqual({})
  expect(decideFor([lost], { healState: healthy.healState, now: start + 13 * minute }).notices).toHaveLength(
    1,
  )
})

test('drift that only an operator can repair is reported once, without a step', () => {
  const unrepairable = [{ target: 'certificate', name: '/etc/kubelet.crt', difference: 'missing' } as const]
  const first = decideFor([observeComponent('kubelet', { unrepairable })])
  expect(first.notices).toMatchObject([{ action: 'refuse', code: 'HEAL_NEEDS_OPERATOR' }])
  expect(first.components).toMatchObject([{ state: 'healthy', drift: unrepairable }])
  expect(
    decideFor([observeComponent('kubelet', { unrepairable })], { healState: first.healState }).notices,
  ).toEqual([])
})

test('a host over its budget is left alone, which is reported; healing is also suspended while paused', () => {
  const now = start + 10 * minute
  const disruptions = Array<string>(10).fill(at(now - minute))
  const over = decideFor([observeHung('kubelet')], { healState: { ...emptyHealState, disruptions } })
  expect(over).toMatchObject({
    steps: [],
    notices: [{ action: 'refuse', code: 'HEAL_BUDGET_SPENT' }],
    components: [{ state: 'blocked', code: 'HEAL_BUDGET_SPENT' }],
  })
  expect(
    decideFor([observeHung('kubelet')], { healState: over.healState, now: now + second }).notices,
  ).toEqual([])
  // If the clock was set back, recorded times are in the future. Healing does not wait until the clock
  // reaches them.
  expect(
    decideFor([observeHung('kubelet')], { healState: over.healState, now: now - 2 * minute }).steps,
  ).toHaveLength(1)
  const suspended = { because: 'paused', code: 'HEAL_PAUSED' }
  expect(decideFor([observeHung('kubelet', { drifted: ['x'] })], { suspended })).toMatchObject({
    steps: [],
    components: [{ state: 'blocked', ...suspended }],
  })
})

test('at most one component is disrupted per round', () => {
  const { steps, healState } = decideFor([
    observeHung('containerd'),
    observeHung('etcd'),
    observeComponent('kubelet', { drifted: ['x'] }),
  ])
  expect(steps.map(({ component, actions }) => [component, ...actions])).toEqual([
    ['containerd', 'restart'],
    ['kubelet', 'repair'],
  ])
  expect(healState.disruptions).toHaveLength(1)
  expect(Object.keys(healState.escalations)).toEqual(['containerd', 'etcd'])
})

test('a relapse resumes the escalation; after a healthy minute it starts again', () => {
  const now = start + 10 * minute
  const escalations = {
    kubelet: { since: at(start), step: 2, lastStepAt: at(now - minute), exhausted: false },
  }
  const healthy = decideFor([observeComponent('kubelet')], { healState: { ...emptyHealState, escalations } })
  expect(healthy.notices).toMatchObject([{ action: 'recovered' }])
  const soon = decideFor([observeHung('kubelet')], { healState: healthy.healState, now: now + 30 * second })
  expect(soon.steps).toMatchObject([{ actions: ['capture-logs', 'restart'] }])
  const settled = decideFor([observeComponent('kubelet')], {
    healState: healthy.healState,
    now: now + minute,
  })
  expect([settled.notices, settled.healState.escalations]).toEqual([[], {}])
})
