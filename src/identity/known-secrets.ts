import { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'

/** All that must not be seen, as it may stand somewhere: as text, line by line, and in base64. */
export function knownSecrets(identity: Identity): string[] {
  return secretsIn(identity).flatMap((secret) => {
    const lines = secret.revealText().split(/\r?\n/)
    return [
      // What frames a key is no secret.
      ...lines.map((line) => line.trim()).filter((line) => !line.startsWith('-----')),
      Buffer.from(secret.reveal()).toString('base64'),
    ]
  })
}

/** Wherever they are: one that a later release has more is found as well. */
function secretsIn(value: unknown): Secret[] {
  if (value instanceof Secret) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : []
}
