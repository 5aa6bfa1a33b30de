import { type AddonDifference, isNone } from '../../addons/addon-difference.ts'
import { difference } from '../../addons/diff-addon.ts'
import { describeConflicts } from '../../addons/conflict.ts'
import { readInventories } from '../../addons/inventory-store.ts'
import { lookAll } from '../../addons/live-objects.ts'
import { entirely } from '../../addons/new-addon-diff.ts'
import { describeReference, referenceOf } from '../../addons/reference.ts'
import { departed } from '../../addons/remove-addon.ts'
import { type AddonInput, wishedAddons, type WishedAddon } from '../../addons/desired-addons.ts'
import type { Finding } from '../../contract/finding.ts'
import { settleAll } from '../../kit/settle-all.ts'
import type { KubeClient } from '../../kube/client.ts'
import { policiesInside, policiesOf, unenforced } from './policies.ts'

/** What a cluster shall have of addons, and what would be changed for that. */
export interface AddonProposal {
  readonly wished: readonly WishedAddon[]
  /** Those for which there is something to do. */
  readonly differences: readonly AddonDifference[]
  readonly findings: readonly Finding[]
}

/** What is known of the addons that a cluster shall have before anybody has looked at it. */
export type AddonWish = Omit<AddonInput, 'metricsCertificate'>

export const noAddons: AddonProposal = { wished: [], differences: [], findings: [] }

/** In a cluster that is not there yet all of it is new. */
export function foreseeAddons(input: AddonInput): AddonProposal {
  const { addons, findings } = wishedAddons(input)
  return {
    wished: addons,
    differences: addons.map(entirely),
    findings: [...findings, ...unenforced(input.cluster, policiesOf(addons))],
  }
}

/** Asks a cluster that runs. */
export async function lookAtAddons(api: KubeClient, input: AddonInput): Promise<AddonProposal> {
  const { addons, findings } = wishedAddons(input)
  if (findings.some(({ severity }) => severity === 'error')) return { ...noAddons, findings }
  const references = addons.flatMap(({ manifests }) => manifests.map(referenceOf))
  const [policies, inventories, live] = await Promise.all([
    policiesInside(api),
    readInventories(api),
    lookAll(api, references),
  ])
  const gone = departed(inventories, addons).map((name) => ({ name, manifests: [] }))
  const all = await settleAll(
    [...addons, ...gone].map(async (addon) => {
      const others = addons.filter(({ name }) => name !== addon.name)
      return difference(api, addon, { others, seen: { inventories, live } })
    }),
  )
  return {
    wished: addons,
    differences: all.filter((one) => !isNone(one)),
    findings: [
      ...findings,
      ...all.flatMap((one) => [...one.findings, ...obstacles(one)]),
      ...unenforced(input.cluster, [...policiesOf(addons), ...policies]),
    ],
  }
}

/** What the API would not do. Whoever ignores it leaves that addon as it is. */
function obstacles({ addon, objects }: AddonDifference): Finding[] {
  return objects.flatMap((object): Finding[] => {
    const what = `addon ${addon}: ${describeReference(object)}`
    if (object.change === 'conflict') {
      const message = `${what}: ${describeConflicts(object.conflicts)}, and by hyperkube to something else`
      return [{ code: 'ADDON_CONFLICT', severity: 'error', message, hint: object.hint }]
    }
    if (object.change === 'refused') {
      return [{ code: 'ADDON_REFUSED', severity: 'error', message: `${what}: ${object.reason}` }]
    }
    return []
  })
}

/** Whether the API would take all of it. */
export function isFeasible({ objects }: AddonDifference): boolean {
  return objects.every(({ change }) => change !== 'conflict' && change !== 'refused')
}
