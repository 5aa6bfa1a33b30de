import { expect, test } from 'vitest'
import { parseSelector } from './select-clusters.ts'

const labels = { name: 'berlin', stage: 'canary', region: 'eu' }

test.each([
  ['stage=canary', true],
  ['stage==canary', true],
  ['stage=stable', false],
  ['stage!=stable', true],
  ['region', true],
  ['!region', false],
  ['!zone', true],
  ['zone', false],
  ['zone!=a', true],
  ['name=berlin,region=eu', true],
  ['name=berlin,region=us', false],
  ['constructor', false],
])('%s is %s', (text, expected) => {
  expect(parseSelector(text)(labels)).toBe(expected)
})

test.each(['', '=canary', 'stage=a b', '!stage=canary', 'stage in (a)'])('%o is not a selector', (text) => {
  expect(() => parseSelector(text)).toThrowError(expect.objectContaining({ code: 'FLEET_SELECTOR' }))
})

test('an empty value is a value', () => {
  expect(parseSelector('stage=')({ stage: '' })).toBe(true)
})
