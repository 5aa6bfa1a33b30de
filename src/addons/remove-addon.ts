import type { KubeClient } from '../kube/client.ts'
import type { Addon } from './addon.ts'
import type { Inventory } from './inventory.ts'
import { readInventories, removeInventory, writeInventory } from './inventory-store.ts'
import { buildUsageIndex } from './decide-prune.ts'
import type { ApplyAddonResult, ApplyAddonOptions } from './apply-addon.ts'
import { pruneObjects } from './prune-objects.ts'

/** Lists the addons that have an inventory and are no longer desired. */
export function findRemovedAddons(inventories: readonly Inventory[], desired: readonly Addon[]): string[] {
  const names = new Set(desired.map(({ name }) => name))
  return inventories.map(({ addon }) => addon).filter((addon) => !names.has(addon))
}

/**
 * Removes all objects of an addon in reverse order of applying. The inventory is deleted once no entry is
 * left.
 */
export async function removeAddon(
  client: KubeClient,
  name: string,
  options: ApplyAddonOptions,
): Promise<ApplyAddonResult> {
  const { others, signal } = options
  const inventories = await readInventories(client, { signal })
  const inventory = inventories.find(({ addon }) => addon === name)
  if (inventory === undefined) return { removed: [], findings: [] }
  const usage = buildUsageIndex({ addon: name, desired: [], inventories, others })
  const { removed, kept, findings } = await pruneObjects(client, inventory.entries, usage, options)
  if (kept.length === 0) await removeInventory(client, inventory, { signal })
  else await writeInventory(client, { addon: name, entries: kept }, inventory, { signal })
  return { removed, findings }
}
