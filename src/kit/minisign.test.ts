import { expect, test } from 'vitest'
import { isMinisignKey, verifyMinisign } from './minisign.ts'
import { minisignExample } from './testing/minisign-example.ts'

const { publicKey, content, signature } = minisignExample

test('a signature of minisign is verified, and its comment is returned', () => {
  expect(verifyMinisign(content, signature, publicKey)).toBe('hyperkube 1.2.3')
})

/** A key with the same id, whose last byte differs. */
const otherKey = publicKey.replace(/Z$/, 'a')

test.each([
  ['content', Buffer.from('changed\n'), signature, publicKey],
  ['comment', content, signature.replace('1.2.3', '1.2.4'), publicKey],
  ['signature of the comment', content, signature.replace('PoUv', 'PoUw'), publicKey],
  ['signature', content, 'untrusted comment: none\n', publicKey],
  ['key', content, signature, otherKey],
  ['key that is not one', content, signature, 'RWSfKbkuDnOBACg1'],
])('a changed %s is refused', (_, changedContent, changedSignature, key) => {
  expect(verifyMinisign(changedContent, changedSignature, key)).toBeUndefined()
})

test('a public key is recognized', () => {
  expect(isMinisignKey(publicKey)).toBe(true)
  expect(isMinisignKey(publicKey.slice(4))).toBe(false)
  expect(isMinisignKey('')).toBe(false)
})
