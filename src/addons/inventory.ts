import { z } from 'zod'
import type { Format } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { ObjectReference } from './reference.ts'

const inventoryObject = z.strictObject({
  namespace: z.string().optional(),
  name: z.string(),
  /** Uid of the object. Missing if a run was interrupted before the API returned it. */
  uid: z.string().optional(),
  /** True if the object existed before the addon. The addon changes it as desired, but does not delete it. */
  preexisting: z.literal(true).optional(),
})

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AddonInventory'),
  addon: z.string(),
  /**
   * Digest of the addon when it was last applied completely and was ready. Missing while a changed addon is
   * being applied.
   */
  appliedDigest: z.string().optional(),
  /** Entries grouped by kind. This saves space, because an addon may have a thousand objects of few kinds. */
  kinds: z.array(
    z.strictObject({ apiVersion: z.string(), kind: z.string(), objects: z.array(inventoryObject) }),
  ),
})
export type InventoryDocument = z.infer<typeof document>

/** Format of an inventory as it is stored in the cluster. */
export const inventoryFormat: Format<InventoryDocument> = {
  kind: 'AddonInventory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** One object that an addon has applied, or is about to apply. */
export type InventoryEntry = ObjectReference & z.infer<typeof inventoryObject>

/**
 * All objects of an addon. Every object of the addon has an entry; an entry may name an object that does not
 * exist yet.
 */
export interface Inventory {
  readonly addon: string
  /** Digest of the addon at its last complete apply. */
  readonly appliedDigest?: string | undefined
  readonly entries: readonly InventoryEntry[]
}

/**
 * Converts an inventory to its stored form. The order is fixed, so that equal inventories give equal text.
 */
export function toInventoryDocument({ addon, appliedDigest, entries }: Inventory): InventoryDocument {
  const kinds = Map.groupBy(entries, ({ apiVersion, kind }) => `${apiVersion} ${kind}`)
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AddonInventory',
    addon,
    ...(appliedDigest === undefined ? {} : { appliedDigest }),
    kinds: [...kinds.entries()].toSorted(byFirst).flatMap(([, members]) => {
      const [first] = members
      if (first === undefined) return []
      const objects = members.map((entry) => [`${entry.namespace ?? ''}/${entry.name}`, entry] as const)
      return {
        apiVersion: first.apiVersion,
        kind: first.kind,
        objects: objects.toSorted(byFirst).map(([, { namespace, name, uid, preexisting }]) => ({
          ...(namespace === undefined ? {} : { namespace }),
          name,
          ...(uid === undefined ? {} : { uid }),
          ...(preexisting === undefined ? {} : { preexisting }),
        })),
      }
    }),
  }
}

function byFirst(a: readonly [string, ...unknown[]], b: readonly [string, ...unknown[]]): number {
  return a[0] < b[0] ? -1 : 1
}

export function toInventory({ addon, appliedDigest, kinds }: InventoryDocument): Inventory {
  return {
    addon,
    appliedDigest,
    entries: kinds.flatMap(({ apiVersion, kind, objects }) =>
      objects.map((one) => ({ apiVersion, kind, ...one })),
    ),
  }
}

/**
 * Maximum size of the text, in bytes. The API accepts 1 MiB per ConfigMap; the rest is for the other fields.
 */
const maxBytes = 1_000_000

/**
 * Serializes an inventory. Throws if it is too large for a ConfigMap, before objects are applied that could
 * not be recorded.
 */
export function serializeInventory(inventory: Inventory): string {
  const text = JSON.stringify(toInventoryDocument(inventory))
  const size = Buffer.byteLength(text)
  if (size <= maxBytes) return text
  const { addon, entries } = inventory
  const message = `addon ${addon}: the list of its ${entries.length} objects takes ${size} bytes; at most ${maxBytes} fit`
  throw new HyperkubeError('ADDON_TOO_LARGE', message, { hint: 'make two addons of it' })
}
