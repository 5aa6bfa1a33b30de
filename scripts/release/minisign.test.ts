import { expect, test } from 'vitest'
import { formatPublicKey, parseSecretKey, signContent } from './minisign.ts'

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

test('a key with a password is refused', () => {
  expect(() => parseSecretKey('comment\nRWRTY0Iy')).toThrow('minisign -G -W')
})
