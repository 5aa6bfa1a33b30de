import { expect, test } from 'vitest'
import { minisignExample } from '../../src/kit/testing/minisign-example.ts'
import { formatPublicKey, parseSecretKey, signContent } from './minisign.ts'

const { publicKey, content, signature } = minisignExample
// The secret key is used only here.
const secretKey = [
  'untrusted comment: minisign encrypted secret key',
  'RWQAAEIyAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAnym5Lg5zgQAEkG0WcCzxbVl7KIP6hMbITj6Imuct6Oz5fKeIvWLpOSg1iO9X4fUkKspWcICb7Z/wsKp3R+rzv8FxbanDRaJZAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  '',
].join('\n')

test('signing gives the same bytes as minisign', () => {
  const key = parseSecretKey(secretKey)
  expect(formatPublicKey(key)).toBe(publicKey)
  const own = signContent(content, key, 'hyperkube 1.2.3')
  expect(own.split('\n').slice(1)).toEqual(signature.split('\n').slice(1))
})

test('a key with a password is refused', () => {
  expect(() => parseSecretKey('comment\nRWRTY0Iy')).toThrow('minisign -G -W')
})
