import { z } from 'zod'
import type { Finding } from '../contract/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeObject, Manifest } from '../kube/object.ts'
import { type Addon, labelled } from './addon.ts'
import { applyWave } from './apply-wave.ts'
import { refuseWrong } from './check-addons.ts'
import { digestOf } from './addon-digest.ts'
import { appliedEntry, union, wishedEntries, without } from './inventory-entries.ts'
import type { Entry } from './inventory.ts'
import { readInventories, type StoredInventory, writeInventory } from './inventory-store.ts'
import { lookAll } from './live-objects.ts'
import { elsewhereOf } from './decide-prune.ts'
import { keyOf, type Reference, referenceOf } from './reference.ts'
import { sweep } from './prune-objects.ts'
import type { Patience } from './wait-for-objects.ts'
import { definedGroups, inWaves, needsWorkloads } from './waves.ts'

export interface PutOptions extends Patience {
  /** The other addons that are wished: what has moved to them is not removed. */
  readonly others: readonly Addon[]
}

export interface Outcome {
  readonly removed: readonly Reference[]
  readonly findings: readonly Finding[]
}

/**
 * Makes the cluster have what an addon wishes, and nothing more of it. Whatever may be there of the addon is in its
 * inventory before it is there, so that a run that was cut is simply done again.
 */
export async function put(client: KubeClient, addon: Addon, options: PutOptions): Promise<Outcome> {
  const { others, signal } = options
  const { inventories, wished, entries, entered } = await enter(client, addon, options)
  const rest = await takeOver(client, inventories, addon.name, wished, signal)
  const there = await applyWaves(client, addon, options)
  const kept = wished.map((entry): Entry => {
    const object = there.get(keyOf(entry))
    return object === undefined ? entry : appliedEntry(entry, object, addon.name)
  })
  const elsewhere = elsewhereOf({ addon: addon.name, kept, inventories: rest, others })
  const swept = await sweep(client, without(entries, kept), elsewhere, options)
  const left = { addon: addon.name, settled: digestOf(addon), entries: [...kept, ...swept.held] }
  await writeInventory(client, left, entered, { signal })
  return { removed: swept.removed, findings: swept.findings }
}

/**
 * Puts there what comes first of an addon, and waits for nothing that runs: what takes its time has begun then, when the
 * addon is put there as a whole.
 */
export async function lay(client: KubeClient, addon: Addon, options: PutOptions): Promise<void> {
  await enter(client, addon, options)
  const defined = definedGroups(addon.manifests.map(referenceOf))
  const manifests = addon.manifests.filter(
    (manifest) => !needsWorkloads(referenceOf(manifest), defined) && !hasReplicas(manifest),
  )
  await applyWaves(client, { ...addon, manifests, wait: false }, options)
}

/** The first node to be ready would get all of them, and they would stay there. */
function hasReplicas(manifest: Manifest): boolean {
  return several.safeParse(manifest).success
}

const several = z.looseObject({ spec: z.looseObject({ replicas: z.int().min(2) }) })

interface Entered {
  readonly inventories: readonly StoredInventory[]
  readonly wished: readonly Entry[]
  /** With what was there before. */
  readonly entries: readonly Entry[]
  readonly entered: StoredInventory
}

async function enter(client: KubeClient, addon: Addon, { others, signal }: PutOptions): Promise<Entered> {
  refuseWrong([addon, ...others])
  const inventories = await readInventories(client, { signal })
  const former = inventories.find((inventory) => inventory.addon === addon.name)
  const live = await lookAll(client, addon.manifests.map(referenceOf), { signal })
  const wished = wishedEntries(addon, live, inventories)
  const entries = union(wished, former?.entries ?? [])
  const digest = digestOf(addon)
  const settled = former?.settled === digest ? digest : undefined
  const entered = await writeInventory(client, { addon: addon.name, settled, entries }, former, { signal })
  return { inventories, wished, entries, entered }
}

async function applyWaves(
  client: KubeClient,
  addon: Addon,
  patience: Patience,
): Promise<ReadonlyMap<string, KubeObject>> {
  const defined = definedGroups(addon.manifests.map(referenceOf))
  const there = new Map<string, KubeObject>()
  for (const wave of inWaves(labelled(addon), referenceOf)) {
    const applied = await applyWave(client, wave, { ...patience, addon, defined })
    for (const [key, object] of applied) there.set(key, object)
  }
  return there
}

/** What has moved here leaves the inventory in which it was, now that it is in this one. */
async function takeOver(
  client: KubeClient,
  inventories: readonly StoredInventory[],
  addon: string,
  wished: readonly Entry[],
  signal: AbortSignal,
): Promise<StoredInventory[]> {
  const rest: StoredInventory[] = []
  for (const inventory of inventories.filter((one) => one.addon !== addon)) {
    const entries = without(inventory.entries, wished)
    const { addon: other, settled } = inventory
    rest.push(await writeInventory(client, { addon: other, settled, entries }, inventory, { signal }))
  }
  return rest
}
