import { expect, test } from 'vitest'
import { groupByText, formatCount, joinNames } from './format-text.ts'

test('one of a kind, and more', () => {
  expect([
    formatCount(1, 'file'),
    formatCount(2, 'file'),
    formatCount(0, 'directory'),
    formatCount(2, 'key'),
  ]).toEqual(['1 file', '2 files', '0 directories', '2 keys'])
})

test('names are joined, and of many only the first are shown', () => {
  expect(joinNames([])).toBe('')
  expect(joinNames(['a'])).toBe('a')
  expect(joinNames(['a', 'b'])).toBe('a and b')
  expect(joinNames(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d, e and f')
  expect(joinNames(Array.from({ length: 5000 }, (_, index) => `w${index + 1}`))).toBe(
    'w1, w2, w3, w4, w5 and 4,995 more',
  )
})

test('what reads the same comes together, where the first of it stood', () => {
  expect(groupByText(['b1', 'a1', 'b2'], (text) => text.slice(0, 1))).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1']],
  ])
})
