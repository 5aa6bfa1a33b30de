import type { ServerHostKeyAlgorithm } from 'ssh2'

/** Formats a binary host key like OpenSSH, for example ssh-ed25519 AAAA… */
export function formatHostKey(blob: Buffer): string {
  const length = blob.length < 4 ? 0 : blob.readUInt32BE(0)
  return `${blob.subarray(4, 4 + length).toString('latin1')} ${blob.toString('base64')}`
}

/** Supported key types with their signature algorithms. Signatures with SHA-1 are not accepted. */
const keyTypes: readonly (readonly [kind: string, algorithms: readonly ServerHostKeyAlgorithm[]])[] = [
  ['ssh-ed25519', ['ssh-ed25519']],
  ['ecdsa-sha2-nistp256', ['ecdsa-sha2-nistp256']],
  ['ecdsa-sha2-nistp384', ['ecdsa-sha2-nistp384']],
  ['ecdsa-sha2-nistp521', ['ecdsa-sha2-nistp521']],
  ['ssh-rsa', ['rsa-sha2-512', 'rsa-sha2-256']],
]

/** Returns the signature algorithms of a host's pinned keys. */
export function pinnedAlgorithms(pinned: readonly string[]): ServerHostKeyAlgorithm[] {
  const known = new Set(pinned.map((key) => key.split(' ')[0]))
  return keyTypes.filter(([kind]) => known.has(kind)).flatMap(([, algorithms]) => algorithms)
}

/**
 * Lists all accepted algorithms: first those of pinned keys, then all others, best first. Otherwise a host
 * with an additional key could send that key, and its host key would appear changed.
 */
export function hostKeyAlgorithms(pinned: readonly string[]): ServerHostKeyAlgorithm[] {
  return [...new Set([...pinnedAlgorithms(pinned), ...keyTypes.flatMap(([, algorithms]) => algorithms)])]
}

/** True if hyperkube can check signatures of this key. */
export function isSupportedKey(key: string): boolean {
  return pinnedAlgorithms([key]).length > 0
}
