import { createHash } from 'node:crypto'
import type { Manifest } from '../kube/object.ts'
import { type Addon, labelManifests } from './addon.ts'
import { isSecret } from './secret.ts'

/**
 * Computes the digest of all objects that an addon desires. Values of Secrets are left out: other users may
 * read the digest and could guess a short password from it.
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
