import { expect, test } from 'vitest'
import { parseByteRange } from './byte-range.ts'

test.each([
  ['bytes=0-', { first: 0, last: 99 }],
  ['bytes=10-', { first: 10, last: 99 }],
  ['bytes=10-19', { first: 10, last: 19 }],
  ['bytes=10-10', { first: 10, last: 10 }],
  ['bytes=90-1000', { first: 90, last: 99 }],
  ['bytes=-10', { first: 90, last: 99 }],
  ['bytes=-1000', { first: 0, last: 99 }],
  ['bytes=100-', 'unsatisfiable'],
  ['bytes=-0', 'unsatisfiable'],
  [undefined, 'all'],
  ['bytes=-', 'all'],
  ['bytes=20-10', 'all'],
  ['bytes=0-1,5-6', 'all'],
  ['lines=0-1', 'all'],
] as const)('the range %s is resolved for 100 bytes', (header, expected) => {
  expect(parseByteRange(header, 100)).toEqual(expected)
})

test('an empty file has no satisfiable range', () => {
  expect(parseByteRange('bytes=0-', 0)).toBe('unsatisfiable')
})
