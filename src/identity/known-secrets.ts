import { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'

/**
 * Returns all secrets of an identity in the forms in which they may appear in output: single lines of the
 * text, and base64.
 */
export function knownSecrets(identity: Identity): string[] {
  return secretsIn(identity).flatMap((secret) => {
    const lines = secret.revealText().split(/\r?\n/)
    return [
      // Header and footer lines of PEM are not secret.
      ...lines.map((line) => line.trim()).filter((line) => !line.startsWith('-----')),
      Buffer.from(secret.reveal()).toString('base64'),
    ]
  })
}

/** Collects all secrets in a value. The search is recursive, so new fields with secrets are found too. */
function secretsIn(value: unknown): Secret[] {
  if (value instanceof Secret) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : []
}
