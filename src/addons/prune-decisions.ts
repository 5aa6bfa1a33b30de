import { settleAll } from '../kit/settle-all.ts'
import type { KubeClient } from '../kube/client.ts'
import type { KubeCallOptions } from '../kube/request.ts'
import { listContents } from './namespace-contents.ts'
import type { InventoryEntry } from './inventory.ts'
import { findLiveObject } from './live-objects.ts'
import { type UsageIndex, type PruneDecision, decidePrune } from './decide-prune.ts'

/**
 * Reads the objects of the entries and decides about each. `previous` holds the decisions about waves that
 * are removed earlier.
 */
export async function decidePrunes(
  client: KubeClient,
  entries: readonly InventoryEntry[],
  usage: UsageIndex,
  previous: readonly PruneDecision[],
  options: KubeCallOptions = {},
): Promise<PruneDecision[]> {
  const removing = new Set(
    previous.flatMap((decision) =>
      decision.action === 'remove' ? (decision.object.metadata.uid ?? []) : [],
    ),
  )
  return settleAll(
    entries.map(async (entry) => {
      const object = await findLiveObject(client, entry, options)
      const contents = object === undefined ? [] : await listContents(client, object, options)
      return decidePrune(entry, object, contents, removing, usage)
    }),
  )
}
