import type { Addon } from '../../../addons/addon.ts'
import { digestOf } from '../../../addons/addon-digest.ts'
import type { Inventory } from '../../../addons/inventory.ts'
import { readInventories } from '../../../addons/inventory-store.ts'
import { lookAll } from '../../../addons/live-objects.ts'
import { referenceOf } from '../../../addons/reference.ts'
import { firstFew } from '../../../kit/truncate-list.ts'
import type { KubeClient } from '../../../kube/client.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { ControllerRow } from '../../controller.ts'
import { reconciling } from '../../reconciler.ts'
import { type Drift, driftOf, goneOf } from './detect-drift.ts'
import { isSeen, seeRights } from './kinds.ts'

/** In milliseconds. What is said again soon enough is one event with a count. */
export const looksEvery = 10 * 60_000
const saysEvery = 5 * 60_000

/** It only says what it sees, and may do no more. Who wants it mended has another one on. */
export const addonKeeper: ControllerRow = {
  name: 'addon-keeper',
  aliases: ['addons'],
  summary: 'says of addons when something of them is gone or was changed since they were put there',
  byDefault: true,
  watches: [],
  rights: [...seeRights, eventRight()],
  build(scene) {
    const { queue, client, events, metrics, settings } = scene
    const wishes = new Map((settings.addons ?? []).map((addon) => [addon.name, addon]))
    const drifts = new Map<string, number>()
    metrics.gauges(
      'hyperkube_addon_drift_objects',
      'Objects of addons that are not as they were put there.',
      () => [...drifts].map(([addon, count]) => [{ addon }, count] as const),
    )
    queue.add(all)
    return reconciling(scene, {
      async reconcile() {
        const inventories = await readInventories(client)
        drifts.clear()
        for (const inventory of inventories) {
          const { addon } = inventory
          const drift = await driftIn(client, inventory, wishes.get(addon))
          drifts.set(addon, drift.length)
          if (drift.length > 0) await events.record(inventoryOf(addon), told(drift))
        }
        const isCalm = [...drifts.values()].every((count) => count === 0)
        return { requeueAfter: isCalm ? looksEvery : saysEvery }
      },
    })
  },
}

const all = 'addons'

type Wish = Pick<Addon, 'name' | 'manifests'>

/** What is gone can be seen of every addon, and what was changed only where it is known how it was wished. */
async function driftIn(client: KubeClient, inventory: Inventory, wish: Wish | undefined): Promise<Drift[]> {
  // Somebody is at it, or has begun to be.
  if (inventory.settled === undefined) return []
  if (wish === undefined) {
    const entries = inventory.entries.filter(isSeen)
    return goneOf(entries, await lookAll(client, entries))
  }
  const { name, manifests } = wish
  if (inventory.settled !== digestOf({ name, manifests })) return []
  const seen = { name, manifests: manifests.filter(isSeen) }
  return driftOf(seen, await lookAll(client, seen.manifests.map(referenceOf)))
}

function told(drift: readonly Drift[]) {
  const words = drift.map(({ what, is }) => (is === 'gone' ? `${what} is gone` : `${what} was changed`))
  const note = `${firstFew(words, 5)}; hyperkube up puts it back`
  return { type: 'Warning', reason: 'AddonDrift', action: 'LookAtAddon', note } as const
}

/** Events about an addon are at its inventory. */
export function inventoryOf(addon: string): KubeObject {
  const metadata = { namespace: 'kube-system', name: `hyperkube-addon-${addon}` }
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata }
}

export function eventRight() {
  return {
    apiGroups: ['events.k8s.io'],
    resources: ['events'],
    verbs: ['create', 'patch'],
    namespace: 'kube-system',
  }
}
