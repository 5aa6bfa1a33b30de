import type { Reference } from '../../addons/reference.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { baseObjects } from '../../kube/base-objects.ts'
import { clusterStatusDefinition } from '../../kube/cluster-status.ts'
import { hostDefinition, hostOfRights, hostRights, hosts } from '../../kube/host-resource.ts'
import type { Manifest } from '../../kube/object.ts'
import type { Cluster } from '../../spec/cluster.ts'
import { placesIn } from '../host-endpoints.ts'

/** All that a cluster shall have of us beside its addons. */
export interface OwnObjects {
  /** What every cluster has. */
  readonly base: readonly Manifest[]
  /** What controllers need, and hosts for them. It bears a label: what bears that and is not among it goes. */
  readonly marked: readonly Manifest[]
  /** Names of nodes whose part of it stays, though some of them do not answer. None where there are no controllers. */
  readonly nodes: ReadonlySet<string> | undefined
}

export interface OwnWish {
  readonly cluster: Cluster
  readonly plans: readonly NodePlan[]
  /** What controllers may, as far as they are on. */
  readonly rights: readonly Manifest[]
}

export const partLabel = 'hyperkube.dev/part'

export function ownObjects({ cluster, plans, rights }: OwnWish): OwnObjects {
  const base = baseObjects({ windows: cluster.spec.hosts.some(({ os }) => os === 'windows') })
  if (cluster.spec.manager === 'none') return { base, marked: [], nodes: undefined }
  return {
    base,
    marked: [hostDefinition, clusterStatusDefinition, ...rights, ...plans.flatMap(hostObjects)].map(marked),
    nodes: new Set(placesIn(cluster).flatMap(({ node }) => node ?? [])),
  }
}

/** Of a host that is a node: others speak with no API. What it is called is what its kubelet is planned to serve as. */
function hostObjects({ node, components }: NodePlan): Manifest[] {
  if (node === undefined) return []
  const { apiVersion, kind } = hosts
  const kubelet = components.find(({ name }) => name === 'kubelet')
  const names = kubelet?.certificates.find(({ usages }) => usages.includes('server'))?.names
  const spec = names === undefined ? {} : { names }
  return [...hostRights(node.name), { apiVersion, kind, metadata: { name: node.name }, spec }]
}

/** With the label that says what it is a part of. */
export function marked(manifest: Manifest): Manifest {
  return { ...manifest, metadata: { ...manifest.metadata, labels: { [partLabel]: 'controllers' } } }
}

/** The name of the node that something is of, if it is one's. */
export function hostOf({ kind, name }: Pick<Reference, 'kind' | 'name'>): string | undefined {
  return kind === hosts.kind ? name : hostOfRights(name)
}
