import type { ServerHostKeyAlgorithm } from 'ssh2'

/** Formats a binary host key as OpenSSH does: ssh-ed25519 AAAA… */
export function formatHostKey(blob: Buffer): string {
  const length = blob.length < 4 ? 0 : blob.readUInt32BE(0)
  return `${blob.subarray(4, 4 + length).toString('latin1')} ${blob.toString('base64')}`
}

/** Key types and their signature algorithms, without SHA-1. */
const keyTypes: readonly (readonly [kind: string, algorithms: readonly ServerHostKeyAlgorithm[]])[] = [
  ['ssh-ed25519', ['ssh-ed25519']],
  ['ecdsa-sha2-nistp256', ['ecdsa-sha2-nistp256']],
  ['ecdsa-sha2-nistp384', ['ecdsa-sha2-nistp384']],
  ['ecdsa-sha2-nistp521', ['ecdsa-sha2-nistp521']],
  ['ssh-rsa', ['rsa-sha2-512', 'rsa-sha2-256']],
]

/** Signature algorithms of the pinned keys of a host. */
export function pinnedAlgorithms(pinned: readonly string[]): ServerHostKeyAlgorithm[] {
  const known = new Set(pinned.map((key) => key.split(' ')[0]))
  return keyTypes.filter(([kind]) => known.has(kind)).flatMap(([, algorithms]) => algorithms)
}

/**
 * All algorithms to accept, best first. Pinned ones come before the others: otherwise a host with an
 * additional key would show that one and appear changed.
 */
export function hostKeyAlgorithms(pinned: readonly string[]): ServerHostKeyAlgorithm[] {
  return [...new Set([...pinnedAlgorithms(pinned), ...keyTypes.flatMap(([, algorithms]) => algorithms)])]
}
