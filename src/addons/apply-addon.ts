import { z } from 'zod'
import type { Finding } from '../contract/finding.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeObject, Manifest } from '../kube/object.ts'
import { type Addon, computeAddonDigest, labelManifests } from './addon.ts'
import { applyWave } from './apply-wave.ts'
import { assertValidAddons } from './check-addons.ts'
import { buildUsageIndex } from './decide-prune.ts'
import { readInventories, removeInventory, type StoredInventory, writeInventory } from './inventory-store.ts'
import {
  buildDesiredEntries,
  excludeEntries,
  type InventoryEntry,
  mergeEntries,
  toAppliedEntry,
} from './inventory.ts'
import { findLiveObjects } from './live-objects.ts'
import { pruneObjects } from './prune-objects.ts'
import { formatReferenceKey, type ObjectReference, toReference } from './reference.ts'
import type { AddonWaitOptions } from './wait-for-objects.ts'
import { findDefinedGroups, groupIntoWaves, needsWorkloads } from './waves.ts'

export interface ApplyAddonOptions extends AddonWaitOptions {
  /** The other desired addons. Objects that moved to one of them are not removed. */
  readonly others: readonly Addon[]
}

export interface ApplyAddonResult {
  readonly removed: readonly ObjectReference[]
  readonly findings: readonly Finding[]
}

/**
 * Applies an addon and prunes objects that it no longer desires. Every object is recorded in the inventory
 * before it is applied, so an interrupted run can simply be repeated.
 */
export async function applyAddon(
  client: KubeClient,
  addon: Addon,
  options: ApplyAddonOptions,
): Promise<ApplyAddonResult> {
  const { others, signal } = options
  const inventories = await readValidInventories(client, addon, options)
  const { desired, entries, stored } = await recordEntries(client, addon, inventories, options)
  const otherInventories = await takeOverEntries(client, inventories, addon.name, desired, signal)
  const appliedObjects = await applyWaves(client, addon, options)
  const appliedEntries = toAppliedEntries(addon, desired, appliedObjects)
  const usage = buildUsageIndex({
    addon: addon.name,
    desired: appliedEntries,
    inventories: otherInventories,
    others,
  })
  const pruned = await pruneObjects(client, excludeEntries(entries, appliedEntries), usage, options)
  const nextInventory = {
    addon: addon.name,
    appliedDigest: computeAddonDigest(addon),
    entries: [...appliedEntries, ...pruned.kept],
  }
  await writeInventory(client, nextInventory, stored, { signal })
  return { removed: pruned.removed, findings: pruned.findings }
}

/**
 * Restores the objects of an addon that was applied before, and prunes nothing: a controller does not know
 * all desired addons, so an object may be moving to one of the others. Returns false and changes nothing if
 * an operator has begun to apply other manifests.
 */
export async function repairAddon(
  client: KubeClient,
  addon: Addon,
  options: ApplyAddonOptions,
): Promise<boolean> {
  const inventories = await readValidInventories(client, addon, options)
  const appliedDigest = computeAddonDigest(addon)
  if (inventories.find((one) => one.addon === addon.name)?.appliedDigest !== appliedDigest) return false
  const { desired, entries, stored } = await recordEntries(client, addon, inventories, options)
  const appliedEntries = toAppliedEntries(addon, desired, await applyWaves(client, addon, options))
  const nextInventory = { addon: addon.name, appliedDigest, entries: mergeEntries(appliedEntries, entries) }
  await writeInventory(client, nextInventory, stored, { signal: options.signal })
  return true
}

/**
 * Applies an addon early and waits only for CRDs and namespaces, so slow workloads can start sooner. Leaves
 * out workloads with several replicas, and objects that need workloads of the addon.
 */
export async function applyAddonNoWait(
  client: KubeClient,
  addon: Addon,
  options: ApplyAddonOptions,
): Promise<void> {
  await recordEntries(client, addon, await readValidInventories(client, addon, options), options)
  const ownGroups = findDefinedGroups(addon.manifests.map(toReference))
  const manifests = addon.manifests.filter(
    (manifest) => !needsWorkloads(toReference(manifest), ownGroups) && !hasMultipleReplicas(manifest),
  )
  await applyWaves(client, { ...addon, manifests, wait: false }, options)
}

/**
 * True for workloads with several replicas. They are not applied early, because the first ready node would
 * get all replicas and keep them.
 */
function hasMultipleReplicas(manifest: Manifest): boolean {
  return multipleReplicas.safeParse(manifest).success
}

const multipleReplicas = z.looseObject({ spec: z.looseObject({ replicas: z.int().min(2) }) })

interface RecordedEntries {
  readonly desired: readonly InventoryEntry[]
  /** Desired entries, and previous entries of objects that are no longer desired. */
  readonly entries: readonly InventoryEntry[]
  readonly stored: StoredInventory
}

async function readValidInventories(
  client: KubeClient,
  addon: Addon,
  { others, signal }: ApplyAddonOptions,
): Promise<StoredInventory[]> {
  assertValidAddons([addon, ...others])
  return readInventories(client, { signal })
}

async function recordEntries(
  client: KubeClient,
  addon: Addon,
  inventories: readonly StoredInventory[],
  { signal }: ApplyAddonOptions,
): Promise<RecordedEntries> {
  const previous = inventories.find((inventory) => inventory.addon === addon.name)
  const live = await findLiveObjects(client, addon.manifests.map(toReference), { signal })
  const desired = buildDesiredEntries(addon, live, inventories)
  const entries = mergeEntries(desired, previous?.entries ?? [])
  const digest = computeAddonDigest(addon)
  const appliedDigest = previous?.appliedDigest === digest ? digest : undefined
  const stored = await writeInventory(client, { addon: addon.name, appliedDigest, entries }, previous, {
    signal,
  })
  return { desired, entries, stored }
}

function toAppliedEntries(
  { name }: Addon,
  desired: readonly InventoryEntry[],
  appliedObjects: ReadonlyMap<string, KubeObject>,
): InventoryEntry[] {
  return desired.map((entry) => {
    const object = appliedObjects.get(formatReferenceKey(entry))
    return object === undefined ? entry : toAppliedEntry(entry, object, name)
  })
}

async function applyWaves(
  client: KubeClient,
  addon: Addon,
  options: ApplyAddonOptions,
): Promise<ReadonlyMap<string, KubeObject>> {
  const references = [addon, ...options.others].flatMap(({ manifests }) => manifests.map(toReference))
  const definedGroups = findDefinedGroups(references)
  const appliedObjects = new Map<string, KubeObject>()
  for (const wave of groupIntoWaves(labelManifests(addon), toReference)) {
    const applied = await applyWave(client, wave, { ...options, addon, definedGroups })
    for (const [key, object] of applied) appliedObjects.set(key, object)
  }
  return appliedObjects
}

/**
 * Removes the desired objects of this addon from the inventories of other addons, because the inventory of
 * this addon now records them.
 */
async function takeOverEntries(
  client: KubeClient,
  inventories: readonly StoredInventory[],
  addon: string,
  desired: readonly InventoryEntry[],
  signal: AbortSignal,
): Promise<StoredInventory[]> {
  const otherInventories: StoredInventory[] = []
  for (const inventory of inventories.filter((one) => one.addon !== addon)) {
    const entries = excludeEntries(inventory.entries, desired)
    const { addon: other, appliedDigest } = inventory
    otherInventories.push(
      await writeInventory(client, { addon: other, appliedDigest, entries }, inventory, { signal }),
    )
  }
  return otherInventories
}

/**
 * Removes all objects of an addon in reverse order of applying. The inventory is deleted when it has no
 * entries left.
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
  // The digest shows that only objects are left that cannot be removed yet.
  const appliedDigest = computeAddonDigest({ name, manifests: [] })
  if (kept.length === 0) await removeInventory(client, inventory, { signal })
  else await writeInventory(client, { addon: name, appliedDigest, entries: kept }, inventory, { signal })
  return { removed, findings }
}
