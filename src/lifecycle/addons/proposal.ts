import { type AddonDifference, isEmptyDifference } from '../../addons/addon-difference.ts'
import { diffAddon } from '../../addons/diff-addon.ts'
import { describeConflicts } from '../../addons/conflict.ts'
import { readInventories } from '../../addons/inventory-store.ts'
import { findLiveObjects } from '../../addons/live-objects.ts'
import { diffNewAddon } from '../../addons/new-addon-diff.ts'
import { describeReference, toReference } from '../../addons/reference.ts'
import { findRemovedAddons } from '../../addons/remove-addon.ts'
import { type AddonInput, listDesiredAddons, type DesiredAddon } from '../../addons/desired-addons.ts'
import type { Finding } from '../../contract/finding.ts'
import { settleAll } from '../../kit/settle-all.ts'
import type { KubeClient } from '../../kube/client.ts'
import { listPolicies, findAddonPolicies, checkPolicyEnforcement } from './policies.ts'

/** Desired addons of a cluster and the changes to get there. */
export interface AddonProposal {
  readonly desired: readonly DesiredAddon[]
  /** Addons with changes. */
  readonly differences: readonly AddonDifference[]
  readonly findings: readonly Finding[]
}

/** What is known of the desired addons before the cluster was observed. */
export type AddonProposalInput = Omit<AddonInput, 'metricsCertificate'>

export const noAddons: AddonProposal = { desired: [], differences: [], findings: [] }

/** In a cluster that does not exist yet every addon is new. */
export function proposeAllAddons(input: AddonInput): AddonProposal {
  const { addons, findings } = listDesiredAddons(input)
  return {
    desired: addons,
    differences: addons.map(diffNewAddon),
    findings: [...findings, ...checkPolicyEnforcement(input.cluster, findAddonPolicies(addons))],
  }
}

/** Compares the desired addons with a running cluster. */
export async function compareAddons(api: KubeClient, input: AddonInput): Promise<AddonProposal> {
  const { addons, findings } = listDesiredAddons(input)
  if (findings.some(({ severity }) => severity === 'error')) return { ...noAddons, findings }
  const references = addons.flatMap(({ manifests }) => manifests.map(toReference))
  const [policies, inventories, live] = await Promise.all([
    listPolicies(api),
    readInventories(api),
    findLiveObjects(api, references),
  ])
  const removed = findRemovedAddons(inventories, addons).map((name) => ({ name, manifests: [] }))
  const all = await settleAll(
    [...addons, ...removed].map(async (addon) => {
      const others = addons.filter(({ name }) => name !== addon.name)
      return diffAddon(api, addon, { others, observed: { inventories, live } })
    }),
  )
  return {
    desired: addons,
    differences: all.filter((one) => !isEmptyDifference(one)),
    findings: [
      ...findings,
      ...all.flatMap((one) => [...one.findings, ...findBlockedChanges(one)]),
      ...checkPolicyEnforcement(input.cluster, [...findAddonPolicies(addons), ...policies]),
    ],
  }
}

/** Changes that the API would refuse. An addon whose finding is ignored stays as it is. */
function findBlockedChanges({ addon, objects }: AddonDifference): Finding[] {
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

/** True if the API would accept all changes. */
export function isFeasible({ objects }: AddonDifference): boolean {
  return objects.every(({ change }) => change !== 'conflict' && change !== 'refused')
}
