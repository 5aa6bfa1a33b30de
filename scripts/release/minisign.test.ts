import { expect, test } from 'vitest'
import { formatPublicKey, parseSecretKey, signContent, verifyContent } from './minisign.ts'

// Debian's minisign 0.11 made the keys and the signature. The keys are used only here.
const publicKey = 'RWSfKbkuDnOBACg1iO9X4fUkKspWcICb7Z/wsKp3R+rzv8FxbanDRaJZ'
const secretKey = [
  'untrusted comment: minisign encrypted secret key',
  'RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAnym5Lg5zgQAEkG0WcCzxbVl7KIP6hMbITj6Imuct6Oz5fKeIvWLpOSg1iO9X4fUkKspWcICb7Z/wsKp3R+rzv8FxbanDRaJZAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  '',
].join('\n')
const signature = [
  'untrusted comment: signature from minisign secret key',
  'RUSfKbkuDnOBAO6lCXCp0m03LOpy6SG3/Zhbh70GD3Wwhk1iCKfsCOM3uoSxu07KecnC3RiMYjJHZwlKlwR8jGpAoMj9xub0swI=',
  'trusted comment: hyperkube 1.2.3',
  'PoUv4FccVoTvs5xdxQgp1bfPv9KwHM3X9YOTlcQEmDrZAKgf05PkR1v21WMHVe8S0rDJXnBAFBopHid1RirYCQ==',
  '',
].join('\n')
const content = Buffer.from('content\n')

test('signing gives the same bytes as minisign', () => {
  const key = parseSecretKey(secretKey)
  expect(formatPublicKey(key)).toBe(publicKey)
  const own = signContent(content, key, 'hyperkube 1.2.3')
  expect(own.split('\n').slice(1)).toEqual(signature.split('\n').slice(1))
})

test('a signature of minisign is verified, and its comment is returned', () => {
  expect(verifyContent(content, signature, publicKey)).toBe('hyperkube 1.2.3')
})

test.each([
  ['content', Buffer.from('changed\n'), signature, publicKey],
  ['comment', content, signature.replace('1.2.3', '1.2.4'), publicKey],
  ['signature', content, 'untrusted comment: none\n', publicKey],
  ['key', content, signature, formatPublicKey({ id: Buffer.alloc(8), publicKey: Buffer.alloc(32) })],
])('a changed %s is refused', (_, changedContent, changedSignature, key) => {
  expect(verifyContent(changedContent, changedSignature, key)).toBeUndefined()
})

test('a key with a password is refused', () => {
  expect(() => parseSecretKey('comment\nRWRTY0Iy')).toThrow('minisign -G -W')
})
