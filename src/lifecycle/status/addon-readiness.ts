import { readInventories } from '../../addons/inventory-store.ts'
import { lookAll } from '../../addons/live-objects.ts'
import { unready } from '../../addons/readiness.ts'
import { describeReference, referenceOf } from '../../addons/reference.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { CallOptions } from '../../kube/request.ts'

/** Whether what an addon has put into the cluster is ready, whatever it is wished to be by now. */
export interface AddonReadiness {
  readonly name: string
  readonly ready: boolean
  readonly reason?: string
}

/** Of all that are there. While so many nodes are away, what runs on every node cannot be complete. */
export async function addonReadiness(
  api: KubeClient,
  away: number,
  options: CallOptions,
): Promise<AddonReadiness[]> {
  const inventories = await readInventories(api, options)
  const looks = inventories.map(async ({ addon, entries }): Promise<AddonReadiness> => {
    const live = await lookAll(api, entries, options)
    const [reason] = [...live.values()].flatMap((object) => {
      const why = unready(object, away)
      return why === undefined ? [] : [`${describeReference(referenceOf(object))}: ${why}`]
    })
    return { name: addon, ready: reason === undefined, ...(reason === undefined ? {} : { reason }) }
  })
  return (await Promise.all(looks)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}
