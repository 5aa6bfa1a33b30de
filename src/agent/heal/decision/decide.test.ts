import { expect, test } from 'vitest'
import { idleUnit } from '../../host/testing/idle-unit.ts'
import type { HealMemory } from '../../../contract/heal-state.ts'
import type { UnitState } from '../../host/systemd.ts'
import { usualBudget } from './budget.ts'
import type { Look } from './decision-input.ts'
import type { ComponentSeen, ProbeSeen } from './component-observation.ts'
import { decide } from './decide.ts'
import { type Ladder, seed, usual } from './escalation-policy.ts'
import { nothingRemembered } from './testing/model-host.ts'
import { remembered } from './action-history.ts'
import type { UnitSeen } from './unit-observation.ts'

const [start, second, minute] = [Date.UTC(2027, 0, 1), 1000, 60_000]
const at = (time: number): string => new Date(time).toISOString()

function probeOf(component: string, state: ProbeSeen['state'], more: Partial<ProbeSeen> = {}): ProbeSeen {
  const failed = state === 'failing' ? { seen: 'no answer within 5.0 s', code: 'HEALTH_NO_ANSWER' } : {}
  const rest = { probe: 'healthz', scope: 'local', kind: 'http', since: at(start), asked: start } as const
  return { component, ...rest, ...failed, state, ...more }
}

function unitOf(component: string, state: Partial<UnitState> = {}, more: Partial<UnitSeen> = {}): UnitSeen {
  return {
    name: `${component}.service`,
    state: {
      ...{ ...idleUnit, active: 'active', sub: 'running', pid: 7, invocation: 'a', type: 'notify' },
      ...state,
    },
    ...{ started: 0, row: 0, changed: 0, wasWell: true },
    ...more,
  }
}

function seenOf(component: string, more: Partial<ComponentSeen> = {}): ComponentSeen {
  return {
    component,
    needs: [],
    unit: unitOf(component),
    probes: [probeOf(component, 'well')],
    slowest: 30 * second,
    drifted: [],
    beyond: [],
    ...more,
  }
}

const hung = (component: string, more: Partial<ComponentSeen> = {}): ComponentSeen =>
  seenOf(component, { probes: [probeOf(component, 'failing')], ...more })

function lookAt(components: readonly ComponentSeen[], more: Partial<Look> = {}) {
  return decide({
    ...{ now: start + 10 * minute, began: 0, memory: nothingRemembered, ladder: usual, budget: usualBudget },
    components,
    ...more,
  })
}

/** What is done and said of one that stays as it is, with how many seconds after the look before at which there was something. */
function course(seen: ComponentSeen, ladder: Ladder, until: number): string[] {
  const told: string[] = []
  let memory: HealMemory = nothingRemembered
  let [last, now] = [start, start]
  for (; now <= start + until; now += 5 * second) {
    const decision = decide({ now, began: 0, components: [seen], memory, ladder, budget: usualBudget })
    const all = [...decision.steps.map(({ component, actions }) => `${component} ${actions.join(' ')}`)]
    all.push(...decision.words.map(({ component, action }) => `${component} ${action}`))
    for (const one of all) told.push(`${(now - last) / second} ${one}`)
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
    memory = remembered(decision.memory, done)
  }
  return told
}

test('the usual ladder: restart, rebuild, keep the logs, try with growing pauses, and give up, but not for ever', () => {
  expect(course(hung('kubelet'), usual, 100 * minute)).toEqual([
    '0 kubelet restart',
    '60 kubelet rebuild restart',
    '60 kubelet capture-logs restart',
    '60 kubelet restart',
    '60 kubelet restart',
    '120 kubelet restart',
    '300 kubelet restart',
    '600 kubelet restart',
    '60 kubelet give-up',
    '3600 kubelet rebuild restart',
  ])
})

test('the ladder of the seed, to the letter', () => {
  expect(course(hung('flanneld'), seed, 4 * minute)).toEqual([
    '0 flanneld restart',
    '20 flanneld restart',
    '20 flanneld restart',
    '20 apiserver-proxy restart',
    '20 flanneld restart',
    '20 flanneld restart',
    '20 flanneld capture-logs restart',
    '20 flanneld give-up',
  ])
  expect(course(hung('kubelet'), seed, minute).slice(0, 2)).toEqual([
    '0 kubelet restart',
    '15 kubelet restart',
  ])
  expect(course(hung('kube-proxy'), seed, minute).slice(0, 2)).toEqual([
    '0 kube-proxy restart',
    '10 kube-proxy restart',
  ])
  expect(course(hung('etcd'), seed, 2 * minute).slice(0, 2)).toEqual([
    '0 etcd restart',
    '60 etcd rebuild restart',
  ])
})

test('what ends by itself is left to its supervisor: its things are put back, its logs kept, and in the end that is said', () => {
  const looping = hung('kubelet', {
    unit: unitOf('kubelet', { active: 'activating', sub: 'auto-restart' }, { wasWell: false }),
  })
  expect(course(looping, usual, 40 * minute)).toEqual([
    '60 kubelet rebuild',
    '60 kubelet capture-logs',
    '1200 kubelet give-up',
  ])
  const { steps } = lookAt([{ ...looping, drifted: ['/etc/kubelet'] }])
  expect(steps.map(({ actions }) => actions)).toEqual([['put-back']])
})

test('what runs and is spoilt is put back before it is restarted, and not restarted at all when it is well', () => {
  const drifted = ['/etc/kubelet']
  const actions = (seen: ComponentSeen): unknown => lookAt([seen]).steps.map((step) => step.actions)
  expect(actions(hung('kubelet', { drifted }))).toEqual([['put-back', 'restart']])
  expect(actions(seenOf('kubelet', { drifted }))).toEqual([['put-back']])
})

test('who fights over a file gets it back now and then, and seldom after an hour of that', () => {
  const told = course(seenOf('kubelet', { drifted: ['/etc/kubelet'] }), usual, 30 * minute)
  expect(told.slice(0, 12)).toEqual(
    ['0', ...Array<string>(9).fill('60'), '600', '600'].map((one) => `${one} kubelet put-back`),
  )
})

test('one that waits for others with its start and says that it is well, is well', () => {
  const unit = unitOf('etcd', { active: 'activating', sub: 'start' })
  const quorum = probeOf('etcd', 'failing', { scope: 'remote' })
  const { steps, components } = lookAt([seenOf('etcd', { unit, probes: [probeOf('etcd', 'well'), quorum] })])
  expect(steps).toEqual([])
  expect(components).toMatchObject([{ component: 'etcd', state: 'well' }])
})

test('one that somebody has stopped is started, after a while', () => {
  const stopped = (since: number): ComponentSeen =>
    seenOf('kubelet', {
      unit: unitOf('kubelet', { active: 'inactive', sub: 'dead' }, { changed: since }),
      probes: [probeOf('kubelet', 'shaky')],
    })
  const now = start + 10 * minute
  expect(lookAt([stopped(now - 5 * second)]).steps).toEqual([])
  expect(lookAt([stopped(now - 10 * second)]).steps).toMatchObject([
    { component: 'kubelet', actions: ['restart'], code: 'HEALTH_NOT_RUNNING' },
  ])
  expect(lookAt([{ ...stopped(0), stopped: true }])).toMatchObject({
    steps: [],
    components: [{ state: 'held', because: 'an operator has stopped its service' }],
  })
})

test('what was just started gets time', () => {
  const now = start + 10 * minute
  const young = unitOf('kubelet', {}, { started: now - 59 * second, row: now - 59 * second })
  expect(lookAt([hung('kubelet', { unit: young })]).steps).toEqual([])
  expect(lookAt([hung('kubelet', { unit: young })], { now: now + second }).steps).toHaveLength(1)
})

test.each(['failing', 'shaky'] as const)('whose need is %s itself waits for it', (state) => {
  const need = seenOf('containerd', { probes: [probeOf('containerd', state)] })
  const { steps, components } = lookAt([hung('kubelet', { needs: ['containerd'] }), need])
  expect(steps.map(({ component }) => component)).toEqual(state === 'failing' ? ['containerd'] : [])
  expect(components).toMatchObject([{ component: 'containerd' }, { component: 'kubelet', state: 'held' }])
})

test('a need that is well again only since a moment is given the time to be of use', () => {
  const now = start + 10 * minute
  const need = seenOf('containerd', {
    probes: [probeOf('containerd', 'well', { since: at(now - 59 * second) })],
  })
  const components = [hung('kubelet', { needs: ['containerd'] }), need]
  expect(lookAt(components).steps).toEqual([])
  expect(lookAt(components, { now: now + second }).steps).toHaveLength(1)
})

test('nobody is blamed for ending, or saying so, while nobody serves it; who hangs is restarted all the same', () => {
  const away = probeOf('apiserver-proxy', 'failing', { probe: 'api', scope: 'remote' })
  const proxy = seenOf('apiserver-proxy', { probes: [probeOf('apiserver-proxy', 'well'), away] })
  const stepsFor = (more: Partial<ComponentSeen>): number =>
    lookAt([proxy, hung('kubelet', { needs: ['apiserver-proxy'], ...more })]).steps.length
  const looping = unitOf('kubelet', { active: 'activating', sub: 'auto-restart' })
  expect(stepsFor({})).toBe(1)
  expect(stepsFor({ unit: looping })).toBe(0)
  expect(stepsFor({ unit: unitOf('kubelet', {}, { wasWell: false }) })).toBe(0)
  expect(stepsFor({ probes: [probeOf('kubelet', 'failing', { code: 'HEALTH_UNWELL' })] })).toBe(0)
  // Of the world only what says whether it can serve holds anybody back.
  const due: ProbeSeen = { ...away, kind: 'certificate' }
  const other = { ...proxy, probes: [probeOf('apiserver-proxy', 'well'), due] }
  const never = hung('kubelet', {
    needs: ['apiserver-proxy'],
    unit: unitOf('kubelet', {}, { wasWell: false }),
  })
  expect(lookAt([other, never]).steps).toHaveLength(1)
})

test('remote probes, and what nobody knows, lead to nothing', () => {
  const probes = [probeOf('kubelet', 'unknown'), probeOf('kubelet', 'failing', { scope: 'remote' })]
  expect(lookAt([seenOf('kubelet', { probes })])).toMatchObject({
    steps: [],
    words: [],
    memory: { climbs: {} },
  })
})

test('data is not risked: that is said once, with what to type, and it is over once it is well', () => {
  const danger = { code: 'ETCD_DATA_LOST', because: 'its data is gone', hint: 'hyperkube node remove cp1' }
  const lost = hung('etcd', { danger, drifted: ['/var/lib/etcd'] })
  const first = lookAt([lost])
  expect(first).toMatchObject({
    steps: [],
    words: [{ component: 'etcd', action: 'refuse', code: danger.code, details: [danger.hint] }],
    components: [{ state: 'held', code: danger.code, because: danger.because }],
  })
  const again = lookAt([lost], { memory: first.memory, now: start + 11 * minute })
  expect([again.steps, again.words]).toEqual([[], []])
  const well = lookAt([seenOf('etcd')], { memory: again.memory, now: start + 12 * minute })
  expect(well.words).toMatchObject([{ component: 'etcd', action: 'recovered' }])
  expect(well.memory.climbs).toEqual({})
  expect(lookAt([lost], { memory: well.memory, now: start + 13 * minute }).words).toHaveLength(1)
})

test('what only an operator can bring is said once, and the component left alone', () => {
  const beyond = [{ target: 'certificate', name: '/etc/kubelet.crt', what: 'it is gone' } as const]
  const first = lookAt([seenOf('kubelet', { beyond })])
  expect(first.words).toMatchObject([{ action: 'refuse', code: 'HEAL_NEEDS_OPERATOR' }])
  expect(first.components).toMatchObject([{ state: 'well', drift: beyond }])
  expect(lookAt([seenOf('kubelet', { beyond })], { memory: first.memory }).words).toEqual([])
})

test('over its budget a host is left alone, and that is said; so it is while somebody else is at work', () => {
  const now = start + 10 * minute
  const spent = Array<string>(10).fill(at(now - minute))
  const over = lookAt([hung('kubelet')], { memory: { ...nothingRemembered, spent } })
  expect(over).toMatchObject({
    steps: [],
    words: [{ action: 'refuse', code: 'HEAL_BUDGET_SPENT' }],
    components: [{ state: 'held', code: 'HEAL_BUDGET_SPENT' }],
  })
  expect(lookAt([hung('kubelet')], { memory: over.memory, now: now + second }).words).toEqual([])
  // Set back, the clock forgives: nobody waits until it has come so far again.
  expect(lookAt([hung('kubelet')], { memory: over.memory, now: now - 2 * minute }).steps).toHaveLength(1)
  const idle = { because: 'paused', code: 'HEAL_PAUSED' }
  expect(lookAt([hung('kubelet', { drifted: ['x'] })], { idle })).toMatchObject({
    steps: [],
    components: [{ state: 'held', ...idle }],
  })
})

test('no more than one is disturbed in one look', () => {
  const { steps, memory } = lookAt([hung('containerd'), hung('etcd'), seenOf('kubelet', { drifted: ['x'] })])
  expect(steps.map(({ component, actions }) => [component, ...actions])).toEqual([
    ['containerd', 'restart'],
    ['kubelet', 'put-back'],
  ])
  expect(memory.spent).toHaveLength(1)
  expect(Object.keys(memory.climbs)).toEqual(['containerd', 'etcd'])
})

test('who falls again soon goes on where they were; after a calm while they begin anew', () => {
  const now = start + 10 * minute
  const climbs = { kubelet: { since: at(start), rung: 2, acted: at(now - minute), givenUp: false } }
  const well = lookAt([seenOf('kubelet')], { memory: { ...nothingRemembered, climbs } })
  expect(well.words).toMatchObject([{ action: 'recovered' }])
  const soon = lookAt([hung('kubelet')], { memory: well.memory, now: now + 30 * second })
  expect(soon.steps).toMatchObject([{ actions: ['capture-logs', 'restart'] }])
  const calm = lookAt([seenOf('kubelet')], { memory: well.memory, now: now + minute })
  expect([calm.words, calm.memory.climbs]).toEqual([[], {}])
})
