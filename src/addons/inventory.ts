import { z } from 'zod'
import type { Format } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { ObjectReference } from './reference.ts'

const inventoryObject = z.strictObject({
  namespace: z.string().optional(),
  name: z.string(),
  /** Unknown if a run was interrupted before the API returned it. */
  uid: z.string().optional(),
  /** The object existed before the addon. It is kept as desired, and stays when the addon is removed. */
  preexisting: z.literal(true).optional(),
})

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('AddonInventory'),
  addon: z.string(),
  /**
   * Digest of the addon when it was last applied completely and ready. Missing while an apply is under way.
   */
  appliedDigest: z.string().optional(),
  /**
   * Grouped by kind, because most objects of an addon have one of a few kinds and a thousand entries must
   * fit.
   */
  kinds: z.array(
    z.strictObject({ apiVersion: z.string(), kind: z.string(), objects: z.array(inventoryObject) }),
  ),
})
export type InventoryDocument = z.infer<typeof document>

/** The stored format in the cluster. */
export const inventoryFormat: Format<InventoryDocument> = {
  kind: 'AddonInventory',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** One object that an addon has applied, or is about to apply. */
export type InventoryEntry = ObjectReference & z.infer<typeof inventoryObject>

/**
 * All objects of an addon. An entry may name an object that does not exist, but every object of the addon has
 * an entry.
 */
export interface Inventory {
  readonly addon: string
  /** Digest of the last complete apply. */
  readonly appliedDigest?: string | undefined
  readonly entries: readonly InventoryEntry[]
}

/** The order is fixed, so that equal inventories give equal text. */
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
 * The API accepts at most one mebibyte per ConfigMap; the difference is for fields that are not counted here.
 */
const maxBytes = 1_000_000

/**
 * Throws if the inventory does not fit into a ConfigMap, before any object is applied that could not be
 * recorded.
 */
export function serializeInventory(inventory: Inventory): string {
  const text = JSON.stringify(toInventoryDocument(inventory))
  const size = Buffer.byteLength(text)
  if (size <= maxBytes) return text
  const { addon, entries } = inventory
  const message = `addon ${addon}: the list of its ${entries.length} objects takes ${size} bytes; at most ${maxBytes} fit`
  throw new HyperkubeError('ADDON_TOO_LARGE', message, { hint: 'make two addons of it' })
}
