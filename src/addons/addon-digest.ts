import { createHash } from 'node:crypto'
import type { Manifest } from '../kube/object.ts'
import { type Addon, labelManifests } from './addon.ts'
import { isSecret } from './secret.ts'

/**
 * Digest of everything an addon desires. Values of Secrets are left out: others may read the digest, and a
 * short password could be guessed from it.
 */
export function computeAddonDigest(addon: Addon): string {
  return createHash('sha256')
    .update(JSON.stringify(labelManifests(addon).map(redactSecret)))
    .digest('hex')
}

function redactSecret(manifest: Manifest): object {
  if (!isSecret(manifest)) return manifest
  const { data, stringData, ...rest } = manifest
  return { ...rest, keys: [listKeys(data), listKeys(stringData)] }
}

function listKeys(values: unknown): string[] {
  return Object.keys(Object(values))
}
