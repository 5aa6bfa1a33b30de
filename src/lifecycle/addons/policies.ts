import {
  describeReference,
  formatReferenceKey,
  type ObjectReference,
  toReference,
} from '../../addons/reference.ts'
import type { DesiredAddon } from '../../addons/desired-addons.ts'
import type { Finding } from '../../contract/finding.ts'
import { truncateList } from '../../kit/truncate-list.ts'
import type { KubeClient } from '../../kube/client.ts'
import { createUntypedKind } from '../../kube/object.ts'
import { listObjects } from '../../kube/read-objects.ts'
import type { Cluster } from '../../spec/cluster.ts'

const policyKind = createUntypedKind('networking.k8s.io/v1', 'NetworkPolicy')

/** Network policies in the cluster. */
export async function listPolicies(api: KubeClient): Promise<ObjectReference[]> {
  return (await listObjects(api, policyKind)).items.map(toReference)
}

/** Network policies in the manifests of addons. */
export function findAddonPolicies(addons: readonly DesiredAddon[]): ObjectReference[] {
  return addons
    .flatMap(({ manifests }) => manifests.map(toReference))
    .filter(({ kind }) => kind === policyKind.kind)
}

/** Warns about policies that have no effect, because their authors rely on them. */
export function checkPolicyEnforcement({ spec }: Cluster, policies: readonly ObjectReference[]): Finding[] {
  const names = [
    ...new Map(policies.map((one) => [formatReferenceKey(one), describeReference(one)])).values(),
  ]
  if (spec.network.plugin !== 'flannel' || names.length === 0) return []
  return [
    {
      code: 'NETWORK_POLICY_UNENFORCED',
      severity: 'warning',
      message: `flannel enforces no policies, so these let everything through: ${truncateList(names, 5)}`,
      hint: 'use a network that does: spec.network.plugin: none, and for example Calico or Cilium as an addon',
    },
  ]
}
