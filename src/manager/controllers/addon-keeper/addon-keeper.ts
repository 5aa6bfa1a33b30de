import { digestOf } from '../../../addons/digest.ts'
import { readInventories } from '../../../addons/inventory-store.ts'
import { lookAll } from '../../../addons/live.ts'
import { referenceOf } from '../../../addons/reference.ts'
import { firstFew } from '../../../kit/first-few.ts'
import type { KubeObject } from '../../../kube/object.ts'
import type { ControllerRow } from '../../controller.ts'
import { reconciling } from '../../reconciling.ts'
import { driftOf } from './drift.ts'
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
    const addons = new Map((settings.addons ?? []).map((addon) => [addon.name, addon]))
    const drifts = new Map<string, number>()
    metrics.gauges(
      'hyperkube_addon_drift_objects',
      'Objects of addons that are not as they were put there.',
      () => [...drifts].map(([addon, count]) => [{ addon }, count] as const),
    )
    for (const name of addons.keys()) queue.add(name)
    return reconciling(scene, {
      async reconcile(name) {
        const addon = addons.get(name)
        if (addon === undefined) return undefined
        const { force: _force, ...whole } = addon
        const inventory = (await readInventories(client)).find((one) => one.addon === name)
        // Nobody has put it there as it is wished now, or somebody is at it.
        if (inventory?.settled !== digestOf(whole)) return { requeueAfter: looksEvery }
        const seen = { ...whole, manifests: addon.manifests.filter(isSeen) }
        const drift = driftOf(seen, await lookAll(client, seen.manifests.map(referenceOf)))
        drifts.set(name, drift.length)
        if (drift.length > 0) {
          const words = drift.map(({ what, is }) =>
            is === 'gone' ? `${what} is gone` : `${what} was changed`,
          )
          const note = `${firstFew(words, 5)}; hyperkube up puts it back`
          await events.record(inventoryOf(name), {
            type: 'Warning',
            reason: 'AddonDrift',
            action: 'LookAtAddon',
            note,
          })
        }
        return { requeueAfter: drift.length > 0 ? saysEvery : looksEvery }
      },
    })
  },
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
