import { expect, test } from 'vitest'
import { duration } from './duration.ts'

test.each([
  [0, '0 ms'],
  [850, '850 ms'],
  [4200, '4.2 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 00 s'],
  [187_000, '3 min 07 s'],
  [3_600_000, '1 h 00 min'],
  [5_430_000, '1 h 30 min'],
])('%i is %s', (milliseconds, text) => {
  expect(duration(milliseconds)).toBe(text)
})
