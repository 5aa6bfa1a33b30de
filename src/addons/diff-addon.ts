import { mapInBatches } from '../kit/concurrency.ts'
import type { KubeClient } from '../kube/client.ts'
import { satisfies } from '../kube/object.ts'
import type { KubeCallOptions } from '../kube/request.ts'
import { type AddonDifference, isEmptyDifference, type PrunedObject } from './addon-difference.ts'
import { type Addon, computeAddonDigest, labelManifests } from './addon.ts'
import { assertValidAddons } from './check-addons.ts'
import { buildPruneFindings, buildUsageIndex, type PruneDecision } from './decide-prune.ts'
import { readInventories, type StoredInventory } from './inventory-store.ts'
import { buildDesiredEntries, excludeEntries } from './inventory.ts'
import { batchSize, findLiveObjects, type LiveObjects } from './live-objects.ts'
import { diffManifest } from './object-change.ts'
import { findPendingPrerequisites } from './prerequisites.ts'
import { decidePrunes } from './prune-decisions.ts'
import { formatReferenceKey, type ObjectReference, toReference } from './reference.ts'
import { groupIntoWaves } from './waves.ts'

export interface AddonDiffOptions extends KubeCallOptions {
  /** The other desired addons. */
  readonly others: readonly Addon[]
  /** Those of the others that are applied before this addon, and may create what its objects need. */
  readonly earlier?: readonly Addon[]
  /** Inventories and objects that the caller has already read for several addons. */
  readonly observed?: AddonObservation
}

export interface AddonObservation {
  readonly inventories: readonly StoredInventory[]
  readonly live: LiveObjects
}

/**
 * Computes what applying an addon would change, without changing anything. An addon without manifests is
 * treated as removed.
 */
export async function diffAddon(
  client: KubeClient,
  addon: Addon,
  { others, earlier = [], observed, ...options }: AddonDiffOptions,
): Promise<AddonDifference> {
  assertValidAddons([addon, ...others])
  const manifests = labelManifests(addon)
  const inventories = observed?.inventories ?? (await readInventories(client, options))
  const inventory = inventories.find(({ addon: name }) => name === addon.name)
  const digest = computeAddonDigest(addon)
  const isApplied = inventory?.appliedDigest === digest
  const live = observed?.live ?? (await findLiveObjects(client, manifests.map(toReference), options))
  const prerequisites = findPendingPrerequisites([...earlier, addon], live)
  const objects = await mapInBatches(batchSize, manifests, async (manifest) => {
    const [reference, object] = [toReference(manifest), live.get(formatReferenceKey(toReference(manifest)))]
    // Objects of an unchanged addon are compared locally, because a dry run is slow.
    if (isApplied && satisfies(object, manifest)) return { ...reference, change: 'none' as const }
    return diffManifest(client, manifest, { addon, live: object, prerequisites }, options)
  })
  const desired = buildDesiredEntries(addon, live, inventories)
  const usage = buildUsageIndex({ addon: addon.name, desired, inventories, others })
  const decisions: PruneDecision[] = []
  const undesired = excludeEntries(inventory?.entries ?? [], desired)
  for (const entries of groupIntoWaves(undesired, (entry) => entry).toReversed()) {
    decisions.push(...(await decidePrunes(client, { entries, previous: decisions }, usage, options)))
  }
  const difference: AddonDifference = {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AddonDifference',
    addon: addon.name,
    digest,
    ...(inventory !== undefined && inventory.appliedDigest === undefined ? { unfinished: true } : {}),
    objects,
    toPrune: decisions.map(toPrunedObject),
    findings: decisions.flatMap((decision) => buildPruneFindings(decision, addon.name)),
  }
  return !isApplied && inventory !== undefined && isEmptyDifference(difference)
    ? { ...difference, outdatedRecord: true }
    : difference
}

function toPrunedObject(decision: PruneDecision): PrunedObject {
  const { apiVersion, kind, namespace, name }: ObjectReference = decision.entry
  return {
    ...toReference({ apiVersion, kind, metadata: { namespace, name } }),
    action: decision.action,
    ...(decision.action === 'remove' ? {} : { reason: decision.reason }),
  }
}

/** Computes the difference for a cluster that has no object of this addon yet. */
export function diffNewAddon(addon: Addon): AddonDifference {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'AddonDifference',
    addon: addon.name,
    digest: computeAddonDigest(addon),
    objects: addon.manifests.map((manifest) => ({ ...toReference(manifest), change: 'create' })),
    toPrune: [],
    findings: [],
  }
}
