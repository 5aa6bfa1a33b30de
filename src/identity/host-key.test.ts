import { expect, test } from 'vitest'
import { fingerprint } from '../kit/ssh-public-key.ts'
import { checkHostKey, forgetHostKey, pinHostKey } from './host-key.ts'

const none = { hostKeys: {} }
const first = key('ssh-ed25519', 'first')
const second = key('ssh-ed25519', 'second')
const other = key('ecdsa-sha2-nistp256', 'other')

function key(type: string, content: string): string {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(type.length)
  return `${type} ${Buffer.concat([length, Buffer.from(type), Buffer.from(content)]).toString('base64')}`
}

function changed(expected: Record<string, unknown>): unknown {
  return expect.objectContaining({ code: 'SSH_HOST_KEY_CHANGED', ...expected })
}

test('the first key is pinned, and the same key is known afterwards', () => {
  expect(checkHostKey(none, 'cp1', first)).toBe('first-use')
  const pinned = pinHostKey(none, 'cp1', [`${first} root@cp1`, other])
  expect(pinned).toEqual({ hostKeys: { cp1: [first, other] } })
  expect(none).toEqual({ hostKeys: {} })
  expect(checkHostKey(pinned, 'cp1', `${first} another comment\n`)).toBe('known')
  expect(checkHostKey(pinned, 'cp1', other)).toBe('known')
  expect(checkHostKey(pinned, 'w1', first)).toBe('first-use')
  expect(pinHostKey(pinned, 'cp1', [other])).toBe(pinned)
})

test('a changed key is refused with both fingerprints', () => {
  const pinned = pinHostKey(none, 'cp1', [first])
  const message = expect.stringMatching(
    `was ${escaped(fingerprint(first))}, now it is ${escaped(fingerprint(second))}; the machine was reinstalled`,
  )
  expect(() => checkHostKey(pinned, 'cp1', second)).toThrow(changed({ host: 'cp1', message }))
  expect(() => pinHostKey(pinned, 'cp1', [first, second])).toThrow(changed({ message }))
})

test('a key of another type is a changed key', () => {
  expect(() => checkHostKey(pinHostKey(none, 'cp1', [first]), 'cp1', other)).toThrow(changed({}))
})

test('after a key is forgotten, the next key is pinned', () => {
  const pinned = pinHostKey(pinHostKey(none, 'cp1', [first]), 'w1', [other])
  expect(pinHostKey(forgetHostKey(pinned, 'cp1'), 'cp1', [second])).toEqual({
    hostKeys: { cp1: [second], w1: [other] },
  })
})

test.each([
  '',
  'hello',
  'ssh-ed25519',
  'ssh-ed25519 !!!!',
  `ssh-rsa ${first.split(' ')[1]}`,
  `-oProxyCommand=x ${first}`,
])('%j is not a valid host key', (text) => {
  const error = expect.objectContaining({ code: 'SSH_HOST_KEY_NOT_READ' })
  expect(() => checkHostKey(none, 'cp1', text)).toThrow(error)
})

test('host names of JavaScript properties are treated like other names', () => {
  expect(checkHostKey(none, 'constructor', first)).toBe('first-use')
  expect(checkHostKey(pinHostKey(none, 'constructor', [first]), 'constructor', first)).toBe('known')
  expect(() => pinHostKey(none, '__proto__', [first])).toThrow(
    expect.objectContaining({ code: 'SSH_HOST_NAME' }),
  )
})

function escaped(text: string): string {
  return text.replaceAll('+', String.raw`\+`)
}
