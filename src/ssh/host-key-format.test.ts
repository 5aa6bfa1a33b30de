import { expect, test } from 'vitest'
import { hostKeyAlgorithms, formatHostKey, pinnedAlgorithms } from './host-key-format.ts'

const text = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

test('a host key is formatted as in OpenSSH', () => {
  expect(formatHostKey(Buffer.from(text.split(' ')[1] ?? '', 'base64'))).toBe(text)
  expect(formatHostKey(Buffer.alloc(0))).toBe(' ')
})

test('algorithms of pinned keys come first, then the others, without duplicates', () => {
  expect(hostKeyAlgorithms([])[0]).toBe('ssh-ed25519')
  const pinned = hostKeyAlgorithms(['ssh-rsa AAAA', 'ecdsa-sha2-nistp384 AAAA'])
  expect(pinned.slice(0, 4)).toEqual(['ecdsa-sha2-nistp384', 'rsa-sha2-512', 'rsa-sha2-256', 'ssh-ed25519'])
  expect(new Set(pinned).size).toBe(pinned.length)
  expect(pinnedAlgorithms(['ssh-dss AAAA'])).toEqual([])
})
