import { assert, property, string } from 'fast-check'
import { expect, test } from 'vitest'
import { toPrintable } from './printable.ts'

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
