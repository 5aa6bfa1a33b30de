import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { formatKeyFile, makeSealingKey, parseKeyFile, passphraseKey } from './sealing-key.ts'

test('a key file has a comment and is read back', () => {
  const made = makeSealingKey()
  const text = formatKeyFile(made)
  expect(text).toMatch(/^# hyperkube: the key of a sealed identity\..*\n[A-Za-z0-9+/]{43}=\n$/)
  expect(parseKeyFile(text).key.reveal()).toEqual(made.key.reveal())
  expect(parseKeyFile(text.replaceAll('\n', '\r\n')).key.reveal()).toEqual(made.key.reveal())
  expect(inspect(made)).not.toContain(text.split('\n')[1])
})

test.each([
  ['an empty file', '', 'IDENTITY_KEY_EMPTY'],
  ['a file with only a comment', '# hyperkube\n', 'IDENTITY_KEY_EMPTY'],
  ['a key of zeros', Buffer.alloc(32).toString('base64'), 'IDENTITY_KEY_EMPTY'],
  ['a key with too few bytes', Buffer.alloc(31, 1).toString('base64'), 'IDENTITY_KEY_NOT_READ'],
  ['a key with too many bytes', Buffer.alloc(33, 1).toString('base64'), 'IDENTITY_KEY_NOT_READ'],
  ['other text', 'hello, world', 'IDENTITY_KEY_NOT_READ'],
  ['two keys', `${'A'.repeat(43)}=\n${'B'.repeat(43)}=\n`, 'IDENTITY_KEY_NOT_READ'],
])('%s is not a valid sealing key', (_what, text, code) => {
  expect(() => parseKeyFile(text)).toThrow(expect.objectContaining({ code }))
})

test('a passphrase must not be empty, and is normalized', () => {
  const empty = expect.objectContaining({ code: 'IDENTITY_KEY_EMPTY' })
  expect(() => passphraseKey('')).toThrow(empty)
  expect(() => passphraseKey(' \t')).toThrow(empty)
  expect(passphraseKey('caf\u0065\u0301').passphrase.reveal()).toEqual(
    passphraseKey('caf\u00E9').passphrase.reveal(),
  )
})
