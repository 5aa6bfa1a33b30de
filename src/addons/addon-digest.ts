import { createHash } from 'node:crypto'
import type { Manifest } from '../kube/object.ts'
import { type Addon, labelled } from './addon.ts'
import { isSecret } from './secret.ts'

/**
 * What an addon wishes, as one short text. Values of Secrets are left out: it is kept where others may read it, and a
 * short password could be guessed from it.
 */
export function digestOf(addon: Addon): string {
  return createHash('sha256')
    .update(JSON.stringify(labelled(addon).map(withoutSecrets)))
    .digest('hex')
}

function withoutSecrets(manifest: Manifest): object {
  if (!isSecret(manifest)) return manifest
  const { data, stringData, ...rest } = manifest
  return { ...rest, keys: [keysOf(data), keysOf(stringData)] }
}

function keysOf(values: unknown): string[] {
  return Object.keys(Object(values))
}
