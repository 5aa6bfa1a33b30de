import type { ObjectReference } from '../../addons/reference.ts'
import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { RenewableCertificate } from '../../contract/host-resource.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { buildBaseObjects } from '../../kube/base-objects.ts'
import { defaultAccounts, defaultAccountsPolicy } from '../../kube/default-accounts.ts'
import { buildClusterStatusCrd } from '../../kube/cluster-status.ts'
import { buildHostCrd, parseHostRoleName, buildHostRbac, hostKind } from '../../kube/host-resource.ts'
import type { Manifest } from '../../kube/object.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { listClusterEndpoints } from '../inputs/host-endpoints.ts'

/** All objects that hyperkube manages in a cluster, except those of addons. */
export interface ManagedObjects {
  /** Objects of the cluster as a whole, not of a single host or controller. */
  readonly base: readonly Manifest[]
  /** Labelled objects of controllers and hosts. Undesired objects with the same label are pruned. */
  readonly labelled: readonly Manifest[]
  /**
   * Names of the nodes in cluster.yml. Objects of these nodes are not pruned, even if the host is
   * unreachable.
   */
  readonly nodes: ReadonlySet<string>
}

export interface ManagedObjectsInput {
  readonly cluster: Cluster
  readonly plans: readonly NodePlan[]
  /** RBAC rules of the enabled controllers. */
  readonly rules: readonly Manifest[]
  /** CustomResourceDefinitions of the enabled controllers. */
  readonly crds?: readonly Manifest[]
}

export const partLabel = 'hyperkube.dev/part'

export function buildManagedObjects({
  cluster,
  plans,
  rules,
  crds = [],
}: ManagedObjectsInput): ManagedObjects {
  const { manager, hosts, security } = cluster.spec
  const controllers = manager === 'none' ? [] : [buildClusterStatusCrd(), ...rules]
  const isCis = security.profile === 'cis'
  const base = buildBaseObjects({ windows: hosts.some(({ os }) => os === 'windows') })
  // The policy is labelled, so that it is pruned if the profile changes. The default service accounts are not
  // labelled: Kubernetes creates them, and they must not be pruned.
  const policies = isCis ? defaultAccountsPolicy : []
  return {
    // CRDs of controllers are not labelled: if they were pruned, all their objects would be deleted.
    base: [...base, ...crds, ...(isCis ? defaultAccounts : [])],
    labelled: [buildHostCrd(), ...controllers, ...policies, ...plans.flatMap(buildHostObjects)].map(
      addPartLabel,
    ),
    nodes: new Set(listClusterEndpoints(cluster).flatMap(({ node }) => node ?? [])),
  }
}

/**
 * Builds the objects of a host that is a node: RBAC objects and a Host object. Other hosts do not use the
 * API. `spec.names` of the Host object are the names in the planned kubelet serving certificate.
 */
function buildHostObjects({ node, components }: NodePlan): Manifest[] {
  if (node === undefined) return []
  const { apiVersion, kind } = hostKind
  const find = (name: string): ComponentPlan | undefined => components.find((one) => one.name === name)
  const names = find('kubelet')?.certificates.find(({ usages }) => usages.includes('server'))?.names
  // A control plane has the CA keys and signs its own certificates, so its Host object lists no certificates.
  const certificates = find('kube-apiserver') === undefined ? listRenewable(components) : []
  const spec = {
    ...(names === undefined ? {} : { names }),
    certificates,
    etcdMember: find('etcd') !== undefined,
  }
  return [...buildHostRbac(node.name), { apiVersion, kind, metadata: { name: node.name }, spec }]
}

/** Lists the subjects of all planned certificates, each once. */
function listRenewable(components: readonly ComponentPlan[]): RenewableCertificate[] {
  const all = components.flatMap(({ certificates }) =>
    certificates.map(({ ca, subject }): RenewableCertificate => ({ ca, subject })),
  )
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()]
}

/** Adds the label by which objects to prune are found. */
export function addPartLabel(manifest: Manifest): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, labels: { [partLabel]: 'controllers' } } }
}

/**
 * Returns the node name of the host to which a Host object or an RBAC object of a host belongs; undefined for
 * all other objects.
 */
export function findOwningHost({ kind, name }: Pick<ObjectReference, 'kind' | 'name'>): string | undefined {
  return kind === hostKind.kind ? name : parseHostRoleName(name)
}
