import type { ServerHostKeyAlgorithm } from 'ssh2'

/** A host's key as it comes over the wire, written as OpenSSH writes it: ssh-ed25519 AAAA… */
export function hostKeyText(blob: Buffer): string {
  const length = blob.length < 4 ? 0 : blob.readUInt32BE(0)
  return `${blob.subarray(4, 4 + length).toString('latin1')} ${blob.toString('base64')}`
}

/** The kind of key, and the signatures that are made with it: none with SHA-1. */
const kinds: readonly (readonly [kind: string, algorithms: readonly ServerHostKeyAlgorithm[]])[] = [
  ['ssh-ed25519', ['ssh-ed25519']],
  ['ecdsa-sha2-nistp256', ['ecdsa-sha2-nistp256']],
  ['ecdsa-sha2-nistp384', ['ecdsa-sha2-nistp384']],
  ['ecdsa-sha2-nistp521', ['ecdsa-sha2-nistp521']],
  ['ssh-rsa', ['rsa-sha2-512', 'rsa-sha2-256']],
]

/** Signatures to ask a host for that has shown these keys before. */
export function pinnedAlgorithms(pinned: readonly string[]): ServerHostKeyAlgorithm[] {
  const known = new Set(pinned.map((key) => key.split(' ')[0]))
  return kinds.filter(([kind]) => known.has(kind)).flatMap(([, algorithms]) => algorithms)
}

/**
 * All to ask a host for, best first. What is pinned comes before all others: a host that has got a further key would else
 * show that one, and look changed.
 */
export function hostKeyAlgorithms(pinned: readonly string[]): ServerHostKeyAlgorithm[] {
  return [...new Set([...pinnedAlgorithms(pinned), ...kinds.flatMap(([, algorithms]) => algorithms)])]
}
