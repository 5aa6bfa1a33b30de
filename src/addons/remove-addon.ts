import type { KubeClient } from '../kube/client.ts'
import type { Addon } from './addon.ts'
import type { Inventory } from './inventory.ts'
import { readInventories, removeInventory, writeInventory } from './inventory-store.ts'
import { elsewhereOf } from './decide-prune.ts'
import type { Outcome, PutOptions } from './apply-addon.ts'
import { sweep } from './prune-objects.ts'

/** Those that have put something into the cluster, and are no longer wished. */
export function departed(inventories: readonly Inventory[], wished: readonly Addon[]): string[] {
  const names = new Set(wished.map(({ name }) => name))
  return inventories.map(({ addon }) => addon).filter((addon) => !names.has(addon))
}

/** Takes an addon away: all that it has put there, in the reverse order, and its inventory once nothing is in it. */
export async function remove(client: KubeClient, name: string, options: PutOptions): Promise<Outcome> {
  const { others, signal } = options
  const inventories = await readInventories(client, { signal })
  const inventory = inventories.find(({ addon }) => addon === name)
  if (inventory === undefined) return { removed: [], findings: [] }
  const elsewhere = elsewhereOf({ addon: name, kept: [], inventories, others })
  const { removed, held, findings } = await sweep(client, inventory.entries, elsewhere, options)
  if (held.length === 0) await removeInventory(client, inventory, { signal })
  else await writeInventory(client, { addon: name, entries: held }, inventory, { signal })
  return { removed, findings }
}
