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
])('a %s is shown as its code', (_, character) => {
  const code = character.codePointAt(0) ?? 0
  const digits = code.toString(16).padStart(4, '0')
  expect(toPrintable(`a${character}b`)).toBe(code > 0xffff ? `a\\u{${digits}}b` : `a\\u${digits}b`)
})

test('visible text of all languages stays as it is', () => {
  const text = 'Größe … – „quote“ 名前 имя اسم 😀'
  expect(toPrintable(text)).toBe(text)
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
