import { expect, test } from 'vitest'
import { resolveMaxUnavailable } from './cluster-state.ts'

test.each([
  [3, 100, 3],
  ['3', 100, 3],
  ['10%', 100, 10],
  ['10%', 99, 9],
  ['10%', 5, 1],
  ['10%', 0, 1],
  ['100%', 7, 7],
  [0, 7, 1],
  ['many', 7, 1],
])('maxUnavailable %j with %i workers is resolved to %i', (setting, workers, count) => {
  expect(resolveMaxUnavailable(setting, workers)).toBe(count)
})
