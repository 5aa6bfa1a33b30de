import { expect, test } from 'vitest'
import { measureGapSince, parseStoreLog } from './store-log.ts'

test('a log without a hole has no problems, and its longest pause is known', () => {
  expect(parseStoreLog('1 100\n2 101\n3 115\n4 116\n')).toEqual({
    lines: 4,
    problems: [],
    longestGapSeconds: 14,
  })
})

test.each([
  ['a lost line', '1 100\n3 102\n'],
  ['a repeated line', '1 100\n1 101\n'],
  ['a lost beginning', '7 100\n8 101\n'],
  ['an unreadable line', '1 100\nx\n'],
])('%s is a problem', (_, text) => {
  expect(parseStoreLog(text).problems).not.toEqual([])
})

test('the longest pause since a line leaves out earlier pauses', () => {
  const text = '1 100\n2 150\n3 151\n4 155\n'
  expect(measureGapSince(text, 2)).toBe(4)
  expect(measureGapSince(text, 0)).toBe(50)
})
