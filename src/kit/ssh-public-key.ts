import { createHash } from 'node:crypto'

/**
 * Command that shows the host keys of a Linux machine. The operator must run it on the console, because a
 * connection to an unknown machine proves nothing.
 */
export const listKeysCommand = 'for f in /etc/ssh/ssh_host_*.pub; do ssh-keygen -lf $f; done'

/**
 * Returns an OpenSSH public key without its comment, or undefined if it is invalid. The key type is stated
 * twice, before and inside the base64 blob; both must be equal.
 */
export function normalizePublicKey(text: string): string | undefined {
  const [, type = '', blob = ''] = /^([a-z0-9@.-]+) ([A-Za-z0-9+/]+={0,2})(?:\s.*)?$/.exec(text.trim()) ?? []
  const bytes = Buffer.from(blob, 'base64')
  const inner = bytes.length < 5 ? '' : bytes.subarray(4, 4 + bytes.readUInt32BE(0)).toString('latin1')
  return type !== '' && inner === type && bytes.toString('base64') === blob ? `${type} ${blob}` : undefined
}

/** Returns the fingerprint of a key in the format of ssh: SHA256:… */
export function fingerprint(key: string): string {
  const [, blob = ''] = key.split(' ')
  const digest = createHash('sha256').update(Buffer.from(blob, 'base64')).digest('base64')
  return `SHA256:${digest.replace(/=+$/, '')}`
}

/** Formats a key for people who compare it: ssh-ed25519 SHA256:… */
export function describePublicKey(key: string): string {
  return `${key.split(' ')[0] ?? ''} ${fingerprint(key)}`
}

/** True if a key is the expected one, which is a fingerprint or a public key with an optional comment. */
export function matchesPublicKey(expected: string, key: string): boolean {
  if (expected.startsWith('SHA256:')) return fingerprint(key) === expected
  const expectedKey = normalizePublicKey(expected)
  return expectedKey !== undefined && expectedKey === normalizePublicKey(key)
}
