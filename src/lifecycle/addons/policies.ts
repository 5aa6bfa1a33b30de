import { describeReference, keyOf, type Reference, referenceOf } from '../../addons/reference.ts'
import type { WishedAddon } from '../../addons/desired-addons.ts'
import type { Finding } from '../../contract/finding.ts'
import { firstFew } from '../../kit/truncate-list.ts'
import type { KubeClient } from '../../kube/client.ts'
import { kindOf } from '../../kube/object.ts'
import { list } from '../../kube/read-objects.ts'
import type { Cluster } from '../../spec/cluster.ts'

const policyKind = kindOf('networking.k8s.io/v1', 'NetworkPolicy')

/** Those that are in the cluster. */
export async function policiesInside(api: KubeClient): Promise<Reference[]> {
  return (await list(api, policyKind)).items.map(referenceOf)
}

/** Those that addons bring. */
export function policiesOf(addons: readonly WishedAddon[]): Reference[] {
  return addons
    .flatMap(({ manifests }) => manifests.map(referenceOf))
    .filter(({ kind }) => kind === policyKind.kind)
}

/** Whoever writes a policy believes that it holds. */
export function unenforced({ spec }: Cluster, policies: readonly Reference[]): Finding[] {
  const names = [...new Map(policies.map((one) => [keyOf(one), describeReference(one)])).values()]
  if (spec.network.plugin !== 'flannel' || names.length === 0) return []
  return [
    {
      code: 'NETWORK_POLICY_UNENFORCED',
      severity: 'warning',
      message: `flannel enforces no policies, so these let everything through: ${firstFew(names, 5)}`,
      hint: 'use a network that does: spec.network.plugin: none, and for example Calico or Cilium as an addon',
    },
  ]
}
