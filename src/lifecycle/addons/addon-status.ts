import { isEntirelyNew } from '../../addons/addon-difference.ts'
import { type AddonReadiness, readReadiness } from '../../addons/addon-readiness.ts'
import { readInventories } from '../../addons/inventory-store.ts'
import { findLiveObjects } from '../../addons/live-objects.ts'
import { findUnreadyReason } from '../../addons/readiness.ts'
import { describeReference, toReference } from '../../addons/reference.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { KubeCallOptions } from '../../kube/request.ts'
import type { AddonProposal } from './proposal.ts'

/** Status of an addon. `reason` explains why an addon is not ready. */
export interface AddonStatus {
  readonly name: string
  readonly state: 'ready' | 'unready' | 'changes' | 'absent' | 'undesired' | 'off'
  readonly version?: string
  readonly about: string
  readonly reason?: string
}

/**
 * Reads the status of all desired addons. Installed addons that cluster.yml no longer contains are returned
 * as `undesired`.
 */
export async function readAddonStatuses(
  api: KubeClient,
  { desired, differences }: AddonProposal,
  notReadyCount: number,
): Promise<AddonStatus[]> {
  const pending = new Map(differences.map((one) => [one.addon, one]))
  const states = desired.map(async (addon): Promise<AddonStatus> => {
    const { name, version, description } = addon
    const known = { name, about: description, ...(version === undefined ? {} : { version }) }
    const difference = pending.get(name)
    if (difference !== undefined) {
      return { ...known, state: isEntirelyNew(difference) ? 'absent' : 'changes' }
    }
    const live = await findLiveObjects(api, addon.manifests.map(toReference))
    const reason = explainUnready(live.values(), notReadyCount)
    return reason === undefined ? { ...known, state: 'ready' } : { ...known, state: 'unready', reason }
  })
  const names = new Set(desired.map(({ name }) => name))
  const removed = differences
    .filter(({ addon }) => !names.has(addon))
    .map(({ addon }): AddonStatus => ({ name: addon, state: 'undesired', about: 'no longer in cluster.yml' }))
  return [...(await Promise.all(states)), ...removed]
}

/** Returns how many pods a DaemonSet of this addon may lack, because nodes are not ready. */
export type CountMissingPods = (addon: string) => number

/** Checks all installed addons. */
export async function checkAddonReadiness(
  api: KubeClient,
  countMissing: CountMissingPods,
  options: KubeCallOptions,
): Promise<AddonReadiness[]> {
  const inventories = await readInventories(api, options)
  const checks = inventories.map(async ({ addon, entries }): Promise<AddonReadiness> => {
    const liveObjects = await findLiveObjects(api, entries, options)
    return { name: addon, ...readReadiness([...liveObjects.values()], countMissing(addon)) }
  })
  return (await Promise.all(checks)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** Returns the first reason why one of these objects is not ready; undefined if all are ready. */
function explainUnready(objects: Iterable<KubeObject>, notReadyNodes: number): string | undefined {
  return [...objects].flatMap((object) => {
    const reason = findUnreadyReason(object, notReadyNodes)
    return reason === undefined ? [] : [`${describeReference(toReference(object))}: ${reason}`]
  })[0]
}
