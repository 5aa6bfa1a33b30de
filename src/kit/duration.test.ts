import { expect, test } from 'vitest'
import { formatDuration, parseDuration } from './duration.ts'

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
  expect(formatDuration(milliseconds)).toBe(text)
})

test.each([
  ['30s', 30_000],
  ['5m', 300_000],
  ['1h30m', 5_400_000],
  ['2h0m5s', 7_205_000],
  ['90m', 5_400_000],
  ['365d', 31_536_000_000],
  ['1d12h', 129_600_000],
])('%s is typed for %i', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})

test.each(['', '0s', '30', 's', '5 m', '-5s', '1.5h', '30s5m', '5M', '10ms', '9999999s'])(
  '%j is no duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined()
  },
)
