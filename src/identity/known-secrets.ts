import { Secret } from '../pki/secret.ts'
import type { Identity } from './identity.ts'

/** All secrets in the forms in which they may appear in output: as text, line by line, and in base64. */
export function knownSecrets(identity: Identity): string[] {
  return secretsIn(identity).flatMap((secret) => {
    const lines = secret.revealText().split(/\r?\n/)
    return [
      // PEM header and footer are not secret.
      ...lines.map((line) => line.trim()).filter((line) => !line.startsWith('-----')),
      Buffer.from(secret.reveal()).toString('base64'),
    ]
  })
}

/** Searches recursively, so that secrets added by later releases are found too. */
function secretsIn(value: unknown): Secret[] {
  if (value instanceof Secret) return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : []
}
