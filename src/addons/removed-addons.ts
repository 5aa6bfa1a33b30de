import type { Addon } from './addon.ts'
import type { Inventory } from './inventory.ts'
import { parseGroup } from './reference.ts'
import { findDefinedGroups, isNamespace } from './waves.ts'

/**
 * Lists the addons that have an inventory and are no longer desired, in the order in which they are removed.
 * An addon comes before the addons whose CRDs or namespaces its objects need. Otherwise the controller of its
 * custom resources would be removed first, and nothing would remove their finalizers.
 */
export function findRemovedAddons(inventories: readonly Inventory[], desired: readonly Addon[]): string[] {
  const names = new Set(desired.map(({ name }) => name))
  const ordered: Inventory[] = []
  let remaining = inventories.filter(({ addon }) => !names.has(addon))
  while (remaining.length > 0) {
    const free = remaining.filter(
      (one) => !remaining.some((other) => other !== one && needsObjects(other, one)),
    )
    // Addons that need each other have no order.
    const next = new Set(free.length > 0 ? free : remaining)
    ordered.push(...next)
    remaining = remaining.filter((one) => !next.has(one))
  }
  return ordered.map(({ addon }) => addon)
}

/** True if an object of the addon is in a namespace of the other addon, or in an API group of its CRDs. */
function needsObjects({ entries }: Inventory, other: Inventory): boolean {
  const groups = findDefinedGroups(other.entries)
  const namespaces = new Set(other.entries.filter(isNamespace).map(({ name }) => name))
  return entries.some(
    ({ apiVersion, namespace = '' }) => groups.has(parseGroup(apiVersion)) || namespaces.has(namespace),
  )
}
