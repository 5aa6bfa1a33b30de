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

test.each(['', 'stage=', '=canary', 'stage=a b', '!stage=canary', 'stage in (a)'])(
  '%o is not a selector, or selects an empty value',
  (text) => {
    if (text === 'stage=') expect(parseSelector(text)({ stage: '' })).toBe(true)
    else expect(() => parseSelector(text)).toThrowError(expect.objectContaining({ code: 'FLEET_SELECTOR' }))
  },
)
