import { expect, test } from 'vitest'
import { formatFileTimestamp, parseFileTimestamp } from './file-timestamp.ts'

test('a time is found again in a name, to the second', () => {
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
])('%j is none', (text) => {
  expect(parseFileTimestamp(text)).toBeUndefined()
})
