import { expect, test } from 'vitest'
import { type Budget, budgetsOf, standing, whyNever } from './disruption-budget.ts'
import { budgetNamed, podNamed, type PodWish } from './testing/fake-node-api.ts'

test.each<[string, Budget]>([
  ['none of its pods may ever be away', budgetNamed('a', { maxUnavailable: 0 })],
  ['none of its pods may ever be away', budgetNamed('a', { maxUnavailable: '0%' }, { expectedPods: 0 })],
  [
    '2 pods must be healthy at any time, and there are 2',
    budgetNamed('a', { minAvailable: 2 }, { desiredHealthy: 2 }),
  ],
  ['(minAvailable: 100%)', budgetNamed('a', { minAvailable: '100%' }, { desiredHealthy: 2 })],
  ['3 pods must be healthy', budgetNamed('a', { minAvailable: 3 }, { desiredHealthy: 3, currentHealthy: 0 })],
])('it can never be met: %s', (why, budget) => {
  expect(whyNever(budget)).toContain(why)
})

test.each<[string, Budget]>([
  ['one may go', budgetNamed('a', { minAvailable: 1 })],
  ['one is away now, and will be back', budgetNamed('a', { minAvailable: 1 }, { currentHealthy: 1 })],
  ['one may be away', budgetNamed('a', { maxUnavailable: 1 })],
  [
    'nobody has counted yet',
    budgetNamed('a', { minAvailable: 2 }, { desiredHealthy: 2, observedGeneration: 0 }),
  ],
  ['it counts no pods', budgetNamed('a', { minAvailable: 2 }, { desiredHealthy: 2, expectedPods: 0 })],
])('it can be met: %s', (_, budget) => {
  expect(whyNever(budget)).toBeUndefined()
})

test.each<[number, PodWish, Partial<Budget['spec']>]>([
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
  expect(budgetsOf(podNamed('web', pod), [budgetNamed('a', spec)])).toHaveLength(count)
})

test('how it stands is said in numbers', () => {
  expect(standing(budgetNamed('a', { minAvailable: 2 }, { desiredHealthy: 2 }))).toBe(
    'allowed disruptions 0, healthy 2 of 2, needed 2',
  )
})
