import { array, assert, constantFrom, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import type { HealAction, HealState } from '../../../contract/health.ts'
import type { ComponentObservation } from '../decision/component-observation.ts'
import { assessRounds, listExhausted, recordRound, roundLimits } from './healing-rounds.ts'

const minute = 60_000
const start = Date.parse('2026-11-17T00:00:00Z')
const empty: HealState = {
  apiVersion: 'hyperkube.dev/v1',
  kind: 'HealState',
  plan: 'plan',
  escalations: {},
  disruptions: [],
  actions: [],
}

/** Observes a component whose only probe has this result now. */
function observe(component: string, isHealthy: boolean, now: number): ComponentObservation {
  return {
    component,
    needs: [],
    slowestProbeMs: 0,
    drifted: [],
    unrepairable: [],
    probes: [
      {
        component,
        probe: 'ready',
        kind: 'http',
        scope: 'local',
        state: isHealthy ? 'healthy' : 'unhealthy',
        since: new Date(now).toISOString(),
        observedAt: now,
      },
    ],
  }
}

function buildRestart(component: string, now: number): HealAction {
  const at = new Date(now).toISOString()
  return { at, component, action: 'restart', because: 'start it', outcome: 'done', details: [] }
}

/** What happens in one round of the healer: time passes, then the component is observed. */
const tick = record({
  afterMs: integer({ min: 1000, max: 400_000 }),
  result: constantFrom<('healthy' | 'unhealthy' | 'reboot' | 'new-plan')[]>(
    'unhealthy',
    'unhealthy',
    'unhealthy',
    'unhealthy',
    'unhealthy',
    'unhealthy',
    'unhealthy',
    'healthy',
    'reboot',
    'new-plan',
  ),
})

test('healing acts for ten rounds, then once an hour, and restarts after success, a reboot or a new plan', () => {
  let exhaustedRuns = 0
  assert(
    property(array(tick, { maxLength: 200, size: 'max' }), (ticks) => {
      let [healState, now, bootedAt, digest] = [empty, start, start, 'plan']
      /**
       * `failedRounds` counts rounds without success since the last reboot, new plan or lasting recovery.
       * `last` is the start of the last counted round.
       */
      let [failedRounds, last, giveUps] = [0, -Infinity, 0]
      let healthySince: number | undefined
      const wrong: string[] = []
      for (const { afterMs, result } of ticks) {
        now += afterMs
        if (result === 'reboot') bootedAt = now
        if (result === 'new-plan') digest = `plan ${now}`
        const isHealthy = result === 'healthy'
        const components = [observe('kubelet', isHealthy, now)]
        const assessed = assessRounds({ now, digest, components, healState, bootedAt, isLimited: true })
        healState = assessed.healState
        const isLasting = isHealthy && now - (healthySince ?? now) >= minute
        if (result === 'reboot' || result === 'new-plan' || isLasting)
          [failedRounds, last, giveUps] = [0, -Infinity, 0]
        // The last round before a recovery was successful, so it does not count as failed.
        else if (isHealthy && healthySince === undefined) failedRounds = Math.max(0, failedRounds - 1)
        healthySince = isHealthy ? (healthySince ?? now) : undefined
        giveUps += assessed.notices.length
        exhaustedRuns += assessed.notices.length
        for (const { code } of assessed.notices) {
          if (code !== 'HEAL_EXHAUSTED' || failedRounds < roundLimits.maxRounds)
            wrong.push('gave up too early')
          if (giveUps > 1) wrong.push('gave up twice')
        }
        if (isHealthy || listExhausted(healState, now).has('kubelet')) continue
        healState = recordRound(healState, [buildRestart('kubelet', now)], { now, digest })
        if (now - last < roundLimits.roundMs) continue
        if (giveUps > 0 && now - last < roundLimits.retryMs) wrong.push('acted within the hour')
        failedRounds++
        last = now
      }
      expect(wrong).toEqual([])
    }),
    { seed: 25, numRuns: 200 },
  )
  // Without this check, the property could also hold because healing is never exhausted.
  expect(exhaustedRuns).toBeGreaterThan(50)
})

test('one fault that restarts every service is one round of each', () => {
  const names = ['containerd', 'kubelet', 'flanneld', 'kube-proxy']
  let healState = empty
  for (let second = 0; second < 25; second += 5) {
    const now = start + second * 1000
    healState = recordRound(
      healState,
      names.map((name) => buildRestart(name, now)),
      { now, digest: 'plan' },
    )
  }
  expect(Object.values(healState.escalations).map(({ step }) => step)).toEqual([1, 1, 1, 1])
})

test('any number of rounds that end healthy does not exhaust healing', () => {
  let [healState, now] = [empty, start]
  for (let count = 0; count < 100; count++) {
    healState = recordRound(healState, [buildRestart('kubelet', now)], { now, digest: 'plan' })
    now += 40_000
    const components = [observe('kubelet', true, now)]
    const input = { now, digest: 'plan', components, bootedAt: start, isLimited: true }
    const { notices, healState: next } = assessRounds({ ...input, healState })
    expect(notices).toEqual([])
    healState = next
    now += 5000
  }
  expect(healState.escalations['kubelet']).toMatchObject({ step: 0, exhausted: false })
})

test('a component is not healthy because of a probe from before the last round', () => {
  const healState = recordRound(empty, [buildRestart('kubelet', start)], {
    now: start,
    digest: 'plan',
  })
  const components = [observe('kubelet', true, start - 1)]
  const input = { now: start + 5000, digest: 'plan', components, bootedAt: start, isLimited: true }
  expect(assessRounds({ ...input, healState }).healState.escalations['kubelet']).not.toHaveProperty(
    'recoveredAt',
  )
})
