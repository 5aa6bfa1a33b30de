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

test('toPrintable escapes control characters and right-to-left overrides', () => {
  expect(toPrintable('a\u001B[2Jb\u202Ec\n\td')).toBe(String.raw`a\u001b[2Jb\u202ec` + '\n\td')
})

test.each([
  ['soft hyphen', '\u00AD'],
  ['zero-width space', '\u200B'],
  ['zero-width joiner', '\u200D'],
  ['word joiner', '\u2060'],
  ['byte order mark', '\uFEFF'],
  ['Arabic letter mark', '\u061C'],
  ['line separator', '\u2028'],
  ['paragraph separator', '\u2029'],
  ['bidirectional isolate', '\u2067'],
  ['tag letter', '\u{E0061}'],
  ['variation selector', '\uFE0F'],
  ['supplementary variation selector', '\u{E0101}'],
  ['Hangul filler', '\u3164'],
])('toPrintable escapes a %s', (_, character) => {
  const code = character.codePointAt(0) ?? 0
  const digits = code.toString(16).padStart(4, '0')
  expect(toPrintable(`a${character}b`)).toBe(code > 0xffff ? `a\\u{${digits}}b` : `a\\u${digits}b`)
})

test('toPrintable keeps visible text of all languages', () => {
  const text = 'Größe … – „quote“ 名前 имя اسم 😀'
  expect(toPrintable(text)).toBe(text)
})

test('the output of toPrintable has no control characters', () => {
  assert(
    property(string({ unit: 'binary' }), (text) => {
      // oxlint-disable-next-line no-control-regex -- these are the very characters to find
      expect(toPrintable(text)).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/)
    }),
  )
})

test('toAsciiJson keeps the value and uses only ASCII', () => {
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
])('the suggestion for %s is %s', (word, meant) => {
  expect(suggestWord(word, known)).toBe(meant)
})

test.each(['kubernetes', '', 'x', 'master'])('there is no suggestion for "%s"', (word) => {
  expect(suggestWord(word, known)).toBeUndefined()
})

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b'], 'a and b'],
  [['a', 'b', 'c'], 'a, b and c'],
  [['a', 'b', 'c', 'd'], 'a, b and 2 more'],
])('formatNames of %j is "%s"', (names, text) => {
  expect(formatNames(names)).toBe(text)
})

test('formatCount uses the singular and the plural', () => {
  expect([
    formatCount(1, 'file'),
    formatCount(2, 'file'),
    formatCount(0, 'directory'),
    formatCount(2, 'key'),
  ]).toEqual(['1 file', '2 files', '0 directories', '2 keys'])
})

test('joinNames joins all names, and abbreviates long lists', () => {
  expect(joinNames([])).toBe('')
  expect(joinNames(['a'])).toBe('a')
  expect(joinNames(['a', 'b'])).toBe('a and b')
  expect(joinNames(['a', 'b', 'c', 'd', 'e', 'f'])).toBe('a, b, c, d, e and f')
  expect(joinNames(Array.from({ length: 5000 }, (_, index) => `w${index + 1}`))).toBe(
    'w1, w2, w3, w4, w5 and 4,995 more',
  )
})

test('groupByText groups items with the same text in order of first occurrence', () => {
  expect(groupByText(['b1', 'a1', 'b2'], (text) => text.slice(0, 1))).toEqual([
    ['b', ['b1', 'b2']],
    ['a', ['a1']],
  ])
})
