import type { KubeObject } from '../kube/object.ts'
import type { Addon } from './addon.ts'
import type { Entry, Inventory } from './inventory.ts'
import { isMarked, isRecorded } from './ownership.ts'
import { keyOf, type Reference, referenceOf } from './reference.ts'

/**
 * What an addon enters before it applies anything. An object that is there and that no inventory knows was made by
 * somebody else. One that is being removed is as good as gone: another one will have its name.
 */
export function wishedEntries(
  { name, manifests }: Addon,
  live: ReadonlyMap<string, KubeObject>,
  inventories: readonly Inventory[],
): Entry[] {
  // Its own first: others are asked about what has moved from them.
  const ordered = inventories.toSorted((a, b) => Number(b.addon === name) - Number(a.addon === name))
  const known = Map.groupBy(
    ordered.flatMap(({ addon, entries }) => entries.map((entry) => ({ addon, entry }))),
    ({ entry }) => keyOf(entry),
  )
  return manifests.map(referenceOf).map((reference) => {
    const object = live.get(keyOf(reference))
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return reference
    const recorded = known.get(keyOf(reference))?.find(({ addon, entry }) => isRecorded(entry, object, addon))
    const isMade = recorded !== undefined && recorded.entry.found === undefined
    return { ...reference, uid: object.metadata.uid, ...(isMade ? {} : { found: true }) }
  })
}

/** All that may be there while a run is under way: what shall be, and what was. */
export function union(wished: readonly Entry[], former: readonly Entry[]): Entry[] {
  return [...wished, ...without(former, wished)]
}

/** Those that the others do not name. */
export function without(entries: readonly Entry[], others: readonly Reference[]): Entry[] {
  const keys = new Set(others.map(keyOf))
  return entries.filter((entry) => !keys.has(keyOf(entry)))
}

/** An entry once its object was applied. Somebody may have made the object after we had looked for it. */
export function appliedEntry(entry: Entry, object: KubeObject, addon: string): Entry {
  const { uid } = object.metadata
  if (uid === undefined || uid === entry.uid) return entry
  return { ...referenceOf(object), uid, ...(isMarked(object, addon) ? {} : { found: true }) }
}
