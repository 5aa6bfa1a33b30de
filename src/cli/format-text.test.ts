import { expect, test } from 'vitest'
import { alike, count, listed } from './format-text.ts'

test('one of a kind, and more', () => {
  expect([count(1, 'file'), count(2, 'file'), count(0, 'directory'), count(2, 'key')]).toEqual([
    '1 file',
    '2 files',
    '0 directories',
    '2 keys',
  ])
})

test('names are told like a person does, and of many only the first', () => {
  expect(listed([])).toBe('')
  expect(listed(['a'])).toBe('a')
  expect(listed(['a', 'b'])).toBe('a and b')
  expect(listed(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d, e and f')
  expect(listed(Array.from({ length: 5000 }, (_, index) => `w${index + 1}`))).toBe(
    'w1, w2, w3, w4, w5 and 4,995 more',
  )
})

test('what reads the same comes together, where the first of it stood', () => {
  expect(alike(['b1', 'a1', 'b2'], (text) => text.slice(0, 1))).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1']],
  ])
})
