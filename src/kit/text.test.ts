import { assert, jsonValue, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import {
  formatCount,
  formatNames,
  groupByText,
  joinNames,
  suggestWord,
  toAsciiJson,
  toPrintable,
} from './text.ts'

test('control characters and turned writing are shown, not done', () => {
  expect(toPrintable('a\u001B[2Jb\u202Ec\n\td')).toBe(String.raw`a\u001b[2Jb\u202ec` + '\n\td')
})

test('nothing that moves a cursor comes through', () => {
  assert(
    property(string({ unit: 'binary' }), (text) => {
      // oxlint-disable-next-line no-control-regex -- these are the very characters to find
      expect(toPrintable(text)).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/)
    }),
  )
})

test('says the same, in ASCII', () => {
  assert(
    property(jsonValue({ stringUnit: 'binary' }), (value) => {
      const text = toAsciiJson(JSON.stringify(value))
      expect(text).not.toMatch(/[\u0080-\uffff]/)
      expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: 30 },
  )
})

const known = ['address', 'roles', 'internalAddress', 'control-plane', 'worker']

test.each([
  ['adress', 'address'],
  ['addres', 'address'],
  ['Address', 'address'],
  ['rolse', 'roles'],
  ['controlplane', 'control-plane'],
  ['workers', 'worker'],
])('%s stands for %s', (word, meant) => {
  expect(suggestWord(word, known)).toBe(meant)
})

test.each(['kubernetes', '', 'x', 'master'])('%s stands for none of them', (word) => {
  expect(suggestWord(word, known)).toBeUndefined()
})

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b and c'],
  [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
])('%j: %s', (names, text) => {
  expect(formatNames(names)).toBe(text)
})

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
