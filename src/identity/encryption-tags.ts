import type { Identity } from './identity.ts'
import { computeTag } from './public-identity.ts'
import { buildEncryptionConfiguration, encryptionFile } from './secret-files.ts'
import { encryptionKeys } from './trusted-keys.ts'

/**
 * Returns the tags of all encryption configurations whose keys this identity has: those of its own phase and of the
 * phases around it. A host with another configuration uses a key that this identity does not have.
 */
export function listEncryptionTags(identity: Identity): ReadonlySet<string> {
  const replacement = identity.encryption?.replacement
  const previous = replacement?.phase === 'distrust' ? [replacement.previous] : []
  const keys = [...encryptionKeys(identity), ...previous]
  const orders = [...keys.map((key) => [key]), keys, keys.toReversed()]
  const built = orders.flatMap((order) =>
    [true, false].map((encrypts) => buildEncryptionConfiguration(order, encrypts)),
  )
  const imported = identity.adoption?.encryptionConfiguration
  const all = imported === undefined ? built : [...built, imported]
  return new Set(all.map((content) => computeTag(identity, encryptionFile, content)))
}
