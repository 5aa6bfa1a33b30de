import { expect, test } from 'vitest'
import { formatNames } from './format-names.ts'

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b and c'],
  [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
])('%j: %s', (names, text) => {
  expect(formatNames(names)).toBe(text)
})
