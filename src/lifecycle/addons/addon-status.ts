import type { Addon } from '../../addons/addon.ts'
import { isEntirelyNew } from '../../addons/addon-difference.ts'
import { lookAll } from '../../addons/live-objects.ts'
import { unready } from '../../addons/readiness.ts'
import { describeReference, referenceOf } from '../../addons/reference.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { AddonProposal } from './proposal.ts'

/** How an addon is, in a word and in words. */
export interface AddonState {
  readonly name: string
  readonly state: 'ready' | 'unready' | 'changes' | 'absent' | 'leaving' | 'off'
  readonly version?: string
  readonly about: string
  readonly reason?: string
}

/** Of all that are wished, and of those that are to go. */
export async function addonStates(
  api: KubeClient,
  { wished, differences }: AddonProposal,
  away: number,
): Promise<AddonState[]> {
  const pending = new Map(differences.map((one) => [one.addon, one]))
  const states = wished.map(async (addon): Promise<AddonState> => {
    const { name, version, about } = addon
    const known = { name, about, ...(version === undefined ? {} : { version }) }
    const difference = pending.get(name)
    if (difference !== undefined) {
      return { ...known, state: isEntirelyNew(difference) ? 'absent' : 'changes' }
    }
    const reason = await whyUnready(api, addon, away)
    return reason === undefined ? { ...known, state: 'ready' } : { ...known, state: 'unready', reason }
  })
  const names = new Set(wished.map(({ name }) => name))
  const leaving = differences
    .filter(({ addon }) => !names.has(addon))
    .map(({ addon }): AddonState => ({ name: addon, state: 'leaving', about: 'no longer in cluster.yml' }))
  return [...(await Promise.all(states)), ...leaving]
}

async function whyUnready(api: KubeClient, addon: Addon, away: number): Promise<string | undefined> {
  const live = await lookAll(api, addon.manifests.map(referenceOf))
  const [first] = [...live.values()].flatMap((object) => {
    const reason = unready(object, away)
    return reason === undefined ? [] : [`${describeReference(referenceOf(object))}: ${reason}`]
  })
  return first
}
