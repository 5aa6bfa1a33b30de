import { expect, test } from 'vitest'
import { isMinisignKey, verifyMinisign } from './minisign.ts'

// Debian's minisign 0.11 made the key and the signature. The key is used only in tests.
const publicKey = 'RWSfKbkuDnOBACg1iO9X4fUkKspWcICb7Z/wsKp3R+rzv8FxbanDRaJZ'
const signature = [
  'untrusted comment: signature from minisign secret key',
  'RUSfKbkuDnOBAO6lCXCp0m03LOpy6SG3/Zhbh70GD3Wwhk1iCKfsCOM3uoSxu07KecnC3RiMYjJHZwlKlwR8jGpAoMj9xub0swI=',
  'trusted comment: hyperkube 1.2.3',
  'PoUv4FccVoTvs5xdxQgp1bfPv9KwHM3X9YOTlcQEmDrZAKgf05PkR1v21WMHVe8S0rDJXnBAFBopHid1RirYCQ==',
  '',
].join('\n')
const content = Buffer.from('content\n')

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
