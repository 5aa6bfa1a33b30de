import { expect, test } from 'vitest'
import { describePublicKey, fingerprint, matchesPublicKey, normalizePublicKey } from './ssh-public-key.ts'

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'
const keyFingerprint = 'SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU'

test('a fingerprint has the format of ssh-keygen -l', () => {
  expect(fingerprint(key)).toBe(keyFingerprint)
  expect(describePublicKey(key)).toBe(`ssh-ed25519 ${keyFingerprint}`)
})

test('matchesPublicKey accepts a fingerprint, and a key with or without a comment', () => {
  for (const expected of [keyFingerprint, key, `${key} root@cp1`, `${key}\n`]) {
    expect(matchesPublicKey(expected, key)).toBe(true)
  }
  for (const expected of [
    `${keyFingerprint.slice(0, -1)}V`,
    key.replace('OMqq', 'OMqr'),
    '',
    'ssh-ed25519',
  ]) {
    expect(matchesPublicKey(expected, key)).toBe(false)
  }
  expect(matchesPublicKey('', '')).toBe(false)
})

test('a key whose type differs from its blob is invalid', () => {
  expect(normalizePublicKey(`${key} comment`)).toBe(key)
  expect(normalizePublicKey(key.replace('ssh-ed25519', 'ssh-rsa'))).toBeUndefined()
})
