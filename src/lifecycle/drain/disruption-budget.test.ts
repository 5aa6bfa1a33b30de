import { expect, test } from 'vitest'
import {
  type DisruptionBudget,
  findBudgets,
  formatBudgetStatus,
  explainImpossible,
} from './disruption-budget.ts'
import { buildBudget, buildPod, type PodFixture } from './testing/drained-node.ts'

test.each<[string, DisruptionBudget]>([
  ['it allows no disruption', buildBudget('a', { maxUnavailable: 0 })],
  ['it allows no disruption', buildBudget('a', { maxUnavailable: '0%' }, { expectedPods: 0 })],
  ['it requires 2 healthy pods and selects 2', buildBudget('a', { minAvailable: 2 }, { desiredHealthy: 2 })],
  ['(minAvailable: 100%)', buildBudget('a', { minAvailable: '100%' }, { desiredHealthy: 2 })],
  [
    'it requires 3 healthy pods',
    buildBudget('a', { minAvailable: 3 }, { desiredHealthy: 3, currentHealthy: 0 }),
  ],
])('a budget that never allows an eviction is explained: %s (case %#)', (why, budget) => {
  expect(explainImpossible(budget)).toContain(why)
})

test.each<[string, DisruptionBudget]>([
  ['minAvailable allows one disruption', buildBudget('a', { minAvailable: 1 })],
  ['one pod is unhealthy for now', buildBudget('a', { minAvailable: 1 }, { currentHealthy: 1 })],
  ['maxUnavailable allows one disruption', buildBudget('a', { maxUnavailable: 1 })],
  [
    'the status is outdated',
    buildBudget('a', { minAvailable: 2 }, { desiredHealthy: 2, observedGeneration: 0 }),
  ],
  [
    'the status counts no pods',
    buildBudget('a', { minAvailable: 2 }, { desiredHealthy: 2, expectedPods: 0 }),
  ],
])('a budget that may allow an eviction is not impossible: %s', (_, budget) => {
  expect(explainImpossible(budget)).toBeUndefined()
})

test.each<[number, PodFixture, Partial<DisruptionBudget['spec']>]>([
  [1, {}, {}],
  [0, { namespace: 'other' }, {}],
  [0, { labels: { app: 'api' } }, {}],
  [0, {}, { selector: null }],
  [1, { labels: {} }, { selector: {} }],
  [1, { ready: false }, {}],
  [0, { ready: false }, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }],
  [1, {}, { unhealthyPodEvictionPolicy: 'AlwaysAllow' }],
  [0, { phase: 'Pending' }, {}],
  [0, { deletionTimestamp: '2026-11-15T12:00:00Z' }, {}],
])('%i budgets select the pod %j with the budget spec %j', (count, pod, spec) => {
  expect(findBudgets(buildPod('web', pod), [buildBudget('a', spec)])).toHaveLength(count)
})

test('the status of a budget is formatted as allowed disruptions and healthy pods', () => {
  expect(formatBudgetStatus(buildBudget('a', { minAvailable: 2 }, { desiredHealthy: 2 }))).toBe(
    'allowed disruptions 0, healthy 2 of 2, needed 2',
  )
})
