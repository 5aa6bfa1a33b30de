import { readInventories } from '../../addons/inventory-store.ts'
import { findLiveObjects } from '../../addons/live-objects.ts'
import { findUnreadyReason } from '../../addons/readiness.ts'
import { describeReference, toReference } from '../../addons/reference.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { KubeCallOptions } from '../../kube/request.ts'

/** Readiness of the objects of an installed addon, even if cluster.yml no longer contains the addon. */
export interface AddonReadiness {
  readonly name: string
  readonly ready: boolean
  readonly reason?: string
}

/** Checks all installed addons. A DaemonSet may lack as many pods as there are nodes that are not ready. */
export async function checkAddonReadiness(
  api: KubeClient,
  notReadyNodes: number,
  options: KubeCallOptions,
): Promise<AddonReadiness[]> {
  const inventories = await readInventories(api, options)
  const checks = inventories.map(async ({ addon, entries }): Promise<AddonReadiness> => {
    const liveObjects = await findLiveObjects(api, entries, options)
    const [reason] = [...liveObjects.values()].flatMap((object) => {
      const notReadyReason = findUnreadyReason(object, notReadyNodes)
      return notReadyReason === undefined
        ? []
        : [`${describeReference(toReference(object))}: ${notReadyReason}`]
    })
    return { name: addon, ready: reason === undefined, ...(reason === undefined ? {} : { reason }) }
  })
  return (await Promise.all(checks)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
