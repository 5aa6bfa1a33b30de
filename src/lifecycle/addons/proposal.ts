import { type AddonDifference, isEmptyDifference } from '../../addons/addon-difference.ts'
import { findRemovedAddons } from '../../addons/apply-addon.ts'
import { describeConflicts } from '../../addons/conflict.ts'
import { type AddonInput, type DesiredAddon, listDesiredAddons } from '../../addons/desired-addons.ts'
import { diffAddon, diffNewAddon } from '../../addons/diff-addon.ts'
import { readInventories } from '../../addons/inventory-store.ts'
import { findLiveObjects } from '../../addons/live-objects.ts'
import {
  describeReference,
  formatReferenceKey,
  type ObjectReference,
  toReference,
} from '../../addons/reference.ts'
import type { Finding } from '../../contract/finding.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { truncateList } from '../../kit/text.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createUntypedKind } from '../../kube/object.ts'
import { listObjects } from '../../kube/read-objects.ts'
import type { Cluster } from '../../spec/cluster.ts'

const policyKind = createUntypedKind('networking.k8s.io/v1', 'NetworkPolicy')

async function listPolicies(api: KubeClient): Promise<ObjectReference[]> {
  return (await listObjects(api, policyKind)).items.map(toReference)
}

/** Lists the network policies in the manifests of addons. */
function findAddonPolicies(addons: readonly DesiredAddon[]): ObjectReference[] {
  return addons
    .flatMap(({ manifests }) => manifests.map(toReference))
    .filter(({ kind }) => kind === policyKind.kind)
}

/**
 * Warns about network policies that have no effect: flannel does not enforce them, but their authors rely on
 * them.
 */
export function checkPolicyEnforcement({ spec }: Cluster, policies: readonly ObjectReference[]): Finding[] {
  const names = [
    ...new Map(policies.map((one) => [formatReferenceKey(one), describeReference(one)])).values(),
  ]
  if (spec.network.plugin !== 'flannel' || names.length === 0) return []
  return [
    {
      code: 'NETWORK_POLICY_UNENFORCED',
      severity: 'warning',
      message: `flannel does not enforce NetworkPolicies, so these have no effect: ${truncateList(names, 5)}`,
      hint: 'set spec.network.plugin: none and install a network plugin that enforces them as an addon, for example Calico or Cilium',
    },
  ]
}

/** Desired addons of a cluster and the changes that install them. */
export interface AddonProposal {
  readonly desired: readonly DesiredAddon[]
  /** Addons without changes are left out. */
  readonly differences: readonly AddonDifference[]
  readonly findings: readonly Finding[]
}

/**
 * Input of an addon proposal that is known before the cluster is observed. The metrics certificate is read
 * from the cluster later.
 */
export type AddonProposalInput = Omit<AddonInput, 'metricsCertificate'>

export const noAddons: AddonProposal = { desired: [], differences: [], findings: [] }

/** Proposes all addons as new, for a cluster that does not exist yet. */
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

/**
 * Reports changes that the API would refuse. If the operator ignores such a finding, the addon is left
 * unchanged.
 */
function findBlockedChanges({ addon, objects }: AddonDifference): Finding[] {
  return objects.flatMap((object): Finding[] => {
    const what = `addon ${addon}: ${describeReference(object)}`
    if (object.change === 'conflict') {
      const message = `${what}: ${describeConflicts(object.conflicts)}; hyperkube sets another value`
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
