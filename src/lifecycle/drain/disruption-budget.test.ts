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
])('it can never be met: %s', (why, budget) => {
  expect(explainImpossible(budget)).toContain(why)
})

test.each<[string, DisruptionBudget]>([
  ['one may go', buildBudget('a', { minAvailable: 1 })],
  ['one is away now, and will be back', buildBudget('a', { minAvailable: 1 }, { currentHealthy: 1 })],
  ['one may be away', buildBudget('a', { maxUnavailable: 1 })],
  [
    'its status is outdated',
    buildBudget('a', { minAvailable: 2 }, { desiredHealthy: 2, observedGeneration: 0 }),
  ],
  ['it counts no pods', buildBudget('a', { minAvailable: 2 }, { desiredHealthy: 2, expectedPods: 0 })],
])('it can be met: %s', (_, budget) => {
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
])('%i budgets are asked about the pod %j under %j', (count, pod, spec) => {
  expect(findBudgets(buildPod('web', pod), [buildBudget('a', spec)])).toHaveLength(count)
})

test('how it stands is said in numbers', () => {
  expect(formatBudgetStatus(buildBudget('a', { minAvailable: 2 }, { desiredHealthy: 2 }))).toBe(
    'allowed disruptions 0, healthy 2 of 2, needed 2',
  )
})
