import { expect, test } from 'vitest'
import { formatDuration, formatFileTimestamp, parseDuration, parseFileTimestamp } from './time-format.ts'

test.each([
  [0, '0 ms'],
  [850, '850 ms'],
  [4200, '4.2 s'],
  [59_949, '59.9 s'],
  [59_950, '1 min 00 s'],
  [187_000, '3 min 07 s'],
  [3_600_000, '1 h 00 min'],
  [5_430_000, '1 h 30 min'],
])('%i ms are formatted as %s', (milliseconds, text) => {
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
])('%s is parsed as %i ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds)
})

test.each(['', '0s', '30', 's', '5 m', '-5s', '1.5h', '30s5m', '5M', '10ms', '9999999s'])(
  '%j is not a valid duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined()
  },
)

test('a file timestamp keeps the time to the second', () => {
  const time = new Date('2026-11-16T12:34:56.789Z')
  expect(formatFileTimestamp(time)).toBe('2026-11-16T12-34-56Z')
  expect(parseFileTimestamp(formatFileTimestamp(time))).toEqual(new Date('2026-11-16T12:34:56Z'))
})

test.each([
  '',
  '2026-11-16T12:34:56Z',
  '2026-13-99T12-00-00Z',
  'x2026-11-16T12-34-56Z',
  '2026-11-16T12-34-56Zx',
])('%j is not a valid file timestamp', (text) => {
  expect(parseFileTimestamp(text)).toBeUndefined()
})
