import { type AddonDifference, isEmptyDifference } from '../../addons/addon-difference.ts'
import { describeConflicts, findConflictCode } from '../../addons/conflict.ts'
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
import { findRemovedAddons } from '../../addons/removed-addons.ts'
import type { Finding } from '../../contract/finding.ts'
import { kubeRouterGroup } from '../../contract/node-users.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { truncateList } from '../../kit/text.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createUntypedKind } from '../../kube/object.ts'
import { listObjects, objectExists } from '../../kube/read-objects.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { usesKubeRouter } from '../../spec/network.ts'
import { checkExternalCrds, listExternalCrds } from './gateway-api.ts'

const policyKind = createUntypedKind('networking.k8s.io/v1', 'NetworkPolicy')
const roleKind = createUntypedKind('rbac.authorization.k8s.io/v1', 'ClusterRole')

async function listPolicies(api: KubeClient): Promise<ObjectReference[]> {
  return (await listObjects(api, policyKind)).items.map(toReference)
}

/** Lists the network policies in the manifests of addons. */
function findAddonPolicies(addons: readonly DesiredAddon[]): ObjectReference[] {
  return addons
    .flatMap(({ manifests }) => manifests.map(toReference))
    .filter(({ kind }) => kind === policyKind.kind)
}

/** Whether the cluster enforced policies before this change. A new cluster has none that could begin to work. */
export type PolicyHistory = 'new-cluster' | 'enforced' | 'not-enforced'

/**
 * Warns about network policies that have no effect although their authors rely on them, and about policies
 * that begin to have an effect.
 */
export function checkPolicyEnforcement(
  { spec: { network } }: Cluster,
  policies: readonly ObjectReference[],
  history: PolicyHistory,
): Finding[] {
  const names = [
    ...new Map(policies.map((one) => [formatReferenceKey(one), describeReference(one)])).values(),
  ]
  if (network.plugin !== 'flannel' || names.length === 0) return []
  const list = truncateList(names, 5)
  if (!usesKubeRouter(network)) {
    const message = `spec.network.policy is none, so these NetworkPolicies have no effect: ${list}`
    const hint = 'remove spec.network.policy from cluster.yml'
    return [{ code: 'NETWORK_POLICY_UNENFORCED', severity: 'warning', message, hint }]
  }
  if (history !== 'not-enforced') return []
  const message = `these NetworkPolicies had no effect and will be enforced: ${list}`
  const hint =
    'check that they allow what your pods need; to keep them without effect: spec.network.policy: none'
  return [{ code: 'NETWORK_POLICY_BEGINS', severity: 'warning', message, hint }]
}

/**
 * Reads whether the cluster enforced policies before. The first `up` of a release with kube-router creates its
 * role.
 */
async function readPolicyHistory(api: KubeClient): Promise<PolicyHistory> {
  return (await objectExists(api, roleKind, { name: kubeRouterGroup })) ? 'enforced' : 'not-enforced'
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
    findings: [
      ...findings,
      ...checkExternalCrds(listExternalCrds(input.cluster), new Map()),
      ...checkPolicyEnforcement(input.cluster, findAddonPolicies(addons), 'new-cluster'),
    ],
  }
}

/** Compares the desired addons with a running cluster. */
export async function compareAddons(api: KubeClient, input: AddonInput): Promise<AddonProposal> {
  const { addons, findings } = listDesiredAddons(input)
  if (findings.some(({ severity }) => severity === 'error')) return { ...noAddons, findings }
  const externalCrds = listExternalCrds(input.cluster)
  const references = [...externalCrds, ...addons.flatMap(({ manifests }) => manifests.map(toReference))]
  const [policies, inventories, live] = await Promise.all([
    listPolicies(api),
    readInventories(api),
    findLiveObjects(api, references),
  ])
  const history = policies.length === 0 ? 'enforced' : await readPolicyHistory(api)
  const removed = findRemovedAddons(inventories, addons).map((name) => ({ name, manifests: [] }))
  const all = await settleAll(
    [...addons, ...removed].map(async (addon, index) => {
      const others = addons.filter(({ name }) => name !== addon.name)
      const earlier = addons.slice(0, index)
      return diffAddon(api, addon, { others, earlier, observed: { inventories, live } })
    }),
  )
  return {
    desired: addons,
    differences: all.filter((one) => !isEmptyDifference(one)),
    findings: [
      ...findings,
      ...all.flatMap((one) => [...one.findings, ...findBlockedChanges(one)]),
      ...checkExternalCrds(externalCrds, live),
      ...checkPolicyEnforcement(input.cluster, [...findAddonPolicies(addons), ...policies], history),
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
      return [{ code: findConflictCode(addon, object), severity: 'error', message, hint: object.hint }]
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
