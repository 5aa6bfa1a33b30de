import { expect, test } from 'vitest'
import { type LabelSelector, matchesSelector } from './label-selector.ts'

const labels = { app: 'web', tier: 'front' }

test.each<[boolean, LabelSelector]>([
  [true, {}],
  [true, { matchLabels: { app: 'web' } }],
  [false, { matchLabels: { app: 'web', tier: 'back' } }],
  [false, { matchLabels: { zone: 'a' } }],
  [true, { matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'api'] }] }],
  [false, { matchExpressions: [{ key: 'app', operator: 'In', values: ['api'] }] }],
  [false, { matchExpressions: [{ key: 'app', operator: 'NotIn', values: ['web'] }] }],
  // NotIn also matches an object without the label.
  [true, { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['a'] }] }],
  [true, { matchExpressions: [{ key: 'tier', operator: 'Exists' }] }],
  [false, { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] }],
  [true, { matchExpressions: [{ key: 'zone', operator: 'DoesNotExist' }] }],
  [
    false,
    { matchLabels: { app: 'api' }, matchExpressions: [{ key: 'tier', operator: 'Exists', values: null }] },
  ],
])('matchesSelector is %s for %j', (is, selector) => {
  expect(matchesSelector(selector, labels)).toBe(is)
})

test('a missing selector matches no labels', () => {
  expect(matchesSelector(undefined, labels)).toBe(false)
  expect(matchesSelector(null, labels)).toBe(false)
})
