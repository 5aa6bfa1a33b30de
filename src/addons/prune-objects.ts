import type { Finding } from '../contract/finding.ts'
import { mapInBatches } from '../kit/concurrency.ts'
import type { KubeClient } from '../kube/client.ts'
import { isKubeError } from '../kube/kube-error.ts'
import { createUntypedKind, type KubeObject } from '../kube/object.ts'
import { deleteKubeObject } from '../kube/write-objects.ts'
import { buildPruneFindings, type PruneDecision, type UsageIndex } from './decide-prune.ts'
import type { InventoryEntry } from './inventory.ts'
import { batchSize, findLiveObject } from './live-objects.ts'
import { decidePrunes } from './prune-decisions.ts'
import { describeReference, type ObjectReference, toReference } from './reference.ts'
import { type AddonWaitOptions, type PendingObject, waitUntilNonePending } from './wait-for-objects.ts'
import { groupIntoWaves } from './waves.ts'

export interface PruneResult {
  readonly removed: readonly ObjectReference[]
  /** Entries of objects that cannot be removed yet. They stay in the inventory. */
  readonly kept: readonly InventoryEntry[]
  readonly findings: readonly Finding[]
}

/**
 * Removes objects that an addon no longer desires, the last wave first. Each wave is deleted completely
 * before the next one starts, because a workload may have to clean up its custom resources.
 */
export async function pruneObjects(
  client: KubeClient,
  entries: readonly InventoryEntry[],
  usage: UsageIndex,
  options: AddonWaitOptions,
): Promise<PruneResult> {
  const decisions: PruneDecision[] = []
  for (const wave of groupIntoWaves(entries, (entry) => entry).toReversed()) {
    const pruneWave = { entries: wave, previous: decisions }
    const waveDecisions = await decidePrunes(client, pruneWave, usage, { signal: options.signal })
    decisions.push(...waveDecisions)
    const toRemove = waveDecisions.flatMap((decision) =>
      decision.action === 'remove' ? [decision.object] : [],
    )
    await removeAll(client, toRemove, usage.addon, options)
  }
  return {
    removed: decisions.flatMap(({ action, entry }) => (action === 'remove' ? [entry] : [])),
    kept: decisions.flatMap(({ action, entry }) => (action === 'hold' ? [entry] : [])),
    findings: decisions.flatMap((decision) => buildPruneFindings(decision, usage.addon)),
  }
}

async function removeAll(
  client: KubeClient,
  objects: readonly KubeObject[],
  addon: string,
  options: AddonWaitOptions,
): Promise<void> {
  const { signal } = options
  await mapInBatches(batchSize, objects, async (object) => removeOne(client, object, signal))
  let pending = objects
  const checkPending = async (): Promise<readonly PendingObject[]> => {
    const results = await mapInBatches(batchSize, pending, async (object) => {
      const current = await findLiveObject(client, toReference(object), { signal })
      // An object with another uid is a new object of the same name and is left alone.
      if (current === undefined || current.metadata.uid !== object.metadata.uid) return []
      if (current.metadata.deletionTimestamp === undefined) await removeOne(client, current, signal)
      return [current]
    })
    pending = results.flat()
    return pending.map((object) => ({
      name: describeReference(toReference(object)),
      reason: `it still exists${formatFinalizers(object)}`,
    }))
  }
  const goal = {
    addon,
    code: 'ADDON_NOT_REMOVED',
    hint: 'wait until the controller of the finalizers removes them, then run the same command again',
  } as const
  await waitUntilNonePending(checkPending, goal, options)
}

async function removeOne(client: KubeClient, object: KubeObject, signal: AbortSignal): Promise<void> {
  const { uid } = object.metadata
  const kind = createUntypedKind(object.apiVersion, object.kind)
  await deleteKubeObject(client, kind, object.metadata, {
    signal,
    ...(uid === undefined ? {} : { uid }),
  }).catch((error: unknown) => {
    // The object was replaced or changed in the meantime. The next check reads it again.
    if (!isKubeError(error, 'KUBE_CONFLICT')) throw error
  })
}

function formatFinalizers({ metadata }: KubeObject): string {
  const finalizers = metadata['finalizers']
  return Array.isArray(finalizers) && finalizers.length > 0
    ? `, with finalizers ${finalizers.join(', ')}`
    : ''
}
