import { HyperkubeError } from '../kit/errors.ts'
import { parsePublicKey } from '../kit/signature.ts'

/**
 * Public keys of the maintainers. The list is empty until the first release of hyperkube. Until then, only
 * keys that the operator names are trusted.
 */
export const releaseCatalogKeys: readonly string[] = []

/**
 * Parses the keys that an operator trusts: one key per line, optionally followed by a comment. Lines that
 * begin with # are comments.
 */
export function parseCatalogKeys(file: string, text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const [key = ''] = line.trim().split(/\s+/)
    return key === '' || key.startsWith('#') ? [] : [requireCatalogKey(file, key)]
  })
}

/** Returns the key if it is a public key. `location` is for messages. */
export function requireCatalogKey(location: string, key: string): string {
  if (parsePublicKey(key) !== undefined) return key
  throw new HyperkubeError('CATALOG_KEY_INVALID', `${location}: ${key.slice(0, 80)} is not a public key`, {
    hint: 'use the key that the publisher of the catalog announced: 44 characters, the last one =',
  })
}

const heading = '# Public keys whose catalogs this cluster accepts. Commit this file beside cluster.yml.\n'

/** Adds a key to the text of the file with the operator's keys. */
export function addCatalogKey(text: string | undefined, key: string): string {
  return `${(text ?? heading).trimEnd()}\n${key}\n`
}
