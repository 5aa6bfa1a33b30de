import { z } from 'zod'
import type { Format } from '../contract/versioned.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { KubeObject } from '../kube/object.ts'
import { defaultFieldManager } from '../kube/client.ts'
import { type Addon, addonLabel } from './addon.ts'
import { formatReferenceKey, type ObjectReference, toReference } from './reference.ts'

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

/** Record of all objects of an addon. An entry may name an object that does not exist yet. */
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
 * Maximum size of a serialized inventory in bytes. The API accepts 1 MiB per ConfigMap, including its other
 * fields.
 */
const maxBytes = 1_000_000

/**
 * Serializes an inventory. Throws if the text is too large for a ConfigMap, because objects that cannot be
 * recorded must not be applied.
 */
export function serializeInventory(inventory: Inventory): string {
  const text = JSON.stringify(toInventoryDocument(inventory))
  const size = Buffer.byteLength(text)
  if (size <= maxBytes) return text
  const { addon, entries } = inventory
  const message = `addon ${addon}: the list of its ${entries.length} objects has ${size} bytes; the limit is ${maxBytes}`
  throw new HyperkubeError('ADDON_TOO_LARGE', message, { hint: 'split it into two addons' })
}

/**
 * Builds the entries that an addon records before it applies anything. An existing object that no inventory
 * records was not created by hyperkube, so its entry is marked `preexisting`. An object that is being deleted
 * counts as missing, because a new object will get its name.
 */
export function buildDesiredEntries(
  { name, manifests }: Addon,
  live: ReadonlyMap<string, KubeObject>,
  inventories: readonly Inventory[],
): InventoryEntry[] {
  // The addon's own inventory comes first. Other inventories matter only for objects that moved from another
  // addon.
  const ordered = inventories.toSorted((a, b) => Number(b.addon === name) - Number(a.addon === name))
  const recordedByKey = Map.groupBy(
    ordered.flatMap(({ addon, entries }) => entries.map((entry) => ({ addon, entry }))),
    ({ entry }) => formatReferenceKey(entry),
  )
  return manifests.map(toReference).map((reference) => {
    const object = live.get(formatReferenceKey(reference))
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return reference
    const recorded = recordedByKey
      .get(formatReferenceKey(reference))
      ?.find(({ addon, entry }) => isEntryObject(entry, object, addon))
    const isOwn = recorded !== undefined && recorded.entry.preexisting === undefined
    return { ...reference, uid: object.metadata.uid, ...(isOwn ? {} : { preexisting: true }) }
  })
}

/**
 * Merges the desired entries with the previous entries, because the objects of both may exist during a run.
 */
export function mergeEntries(
  desired: readonly InventoryEntry[],
  previous: readonly InventoryEntry[],
): InventoryEntry[] {
  return [...desired, ...excludeEntries(previous, desired)]
}

/** Returns the entries whose object is not in `others`. */
export function excludeEntries(
  entries: readonly InventoryEntry[],
  others: readonly ObjectReference[],
): InventoryEntry[] {
  const keys = new Set(others.map(formatReferenceKey))
  return entries.filter((entry) => !keys.has(formatReferenceKey(entry)))
}

/**
 * Updates an entry after its object was applied. The uid may be new, because another client may have created
 * the object in the meantime.
 */
export function toAppliedEntry(entry: InventoryEntry, object: KubeObject, addon: string): InventoryEntry {
  const { uid } = object.metadata
  if (uid === undefined || uid === entry.uid) return entry
  return { ...toReference(object), uid, ...(isCreatedByAddon(object, addon) ? {} : { preexisting: true }) }
}

const ownedMetadata = z.looseObject({
  creationTimestamp: z.string(),
  labels: z.record(z.string(), z.string()),
  managedFields: z.array(
    z.looseObject({
      manager: z.string().optional(),
      operation: z.string().optional(),
      subresource: z.string().optional(),
      time: z.string().optional(),
    }),
  ),
})

/**
 * True if hyperkube created the object for this addon. The label alone is not enough, because users can set
 * it. The time of hyperkube's first apply is checked too: it is later than the creation if a user created the
 * object.
 */
function isCreatedByAddon({ metadata }: KubeObject, addon: string): boolean {
  const parsed = ownedMetadata.safeParse(metadata)
  if (!parsed.success || parsed.data.labels[addonLabel] !== addon) return false
  const { creationTimestamp, managedFields } = parsed.data
  return managedFields.some(
    ({ manager, operation, subresource = '', time }) =>
      manager === defaultFieldManager &&
      operation === 'Apply' &&
      subresource === '' &&
      time !== undefined &&
      Date.parse(time) <= Date.parse(creationTimestamp),
  )
}

/** True if the entry records exactly this object, not another one with the same name. */
export function isEntryObject(entry: InventoryEntry, object: KubeObject, addon: string): boolean {
  return entry.uid === undefined ? isCreatedByAddon(object, addon) : entry.uid === object.metadata.uid
}
