import type { Addon } from '../../addons/addon.ts'
import { isEntirelyNew } from '../../addons/addon-difference.ts'
import { findLiveObjects } from '../../addons/live-objects.ts'
import { findUnreadyReason } from '../../addons/readiness.ts'
import { describeReference, toReference } from '../../addons/reference.ts'
import type { KubeClient } from '../../kube/client.ts'
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
    const reason = await explainUnready(api, addon, notReadyCount)
    return reason === undefined ? { ...known, state: 'ready' } : { ...known, state: 'unready', reason }
  })
  const names = new Set(desired.map(({ name }) => name))
  const removed = differences
    .filter(({ addon }) => !names.has(addon))
    .map(({ addon }): AddonStatus => ({ name: addon, state: 'undesired', about: 'no longer in cluster.yml' }))
  return [...(await Promise.all(states)), ...removed]
}

async function explainUnready(
  api: KubeClient,
  addon: Addon,
  notReadyCount: number,
): Promise<string | undefined> {
  const live = await findLiveObjects(api, addon.manifests.map(toReference))
  const [first] = [...live.values()].flatMap((object) => {
    const reason = findUnreadyReason(object, notReadyCount)
    return reason === undefined ? [] : [`${describeReference(toReference(object))}: ${reason}`]
  })
  return first
}
