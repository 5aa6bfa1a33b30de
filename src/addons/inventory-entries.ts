import type { KubeObject } from '../kube/object.ts'
import type { Addon } from './addon.ts'
import type { InventoryEntry, Inventory } from './inventory.ts'
import { isCreatedByAddon, isEntryObject } from './ownership.ts'
import { formatReferenceKey, type ObjectReference, toReference } from './reference.ts'

/**
 * Builds the entries that an addon records before it applies anything. An existing object that no inventory
 * records was not created by hyperkube. An object under deletion counts as missing, because a new one will
 * get its name.
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
 * Merges the desired entries with the previous ones, because both kinds of objects may exist during a run.
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
 * Updates an entry after its object was applied. The object may differ from the one read before, if another
 * client created it in between.
 */
export function toAppliedEntry(entry: InventoryEntry, object: KubeObject, addon: string): InventoryEntry {
  const { uid } = object.metadata
  if (uid === undefined || uid === entry.uid) return entry
  return { ...toReference(object), uid, ...(isCreatedByAddon(object, addon) ? {} : { preexisting: true }) }
}
