import { describeReference, type ObjectReference, toReference } from '../../addons/reference.ts'
import { controllerUserPrefix, managerUser } from '../../contract/manager-settings.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import { joinNames, truncateList } from '../../kit/text.ts'
import type { KubeObject, Manifest } from '../../kube/object.ts'
import { findOwningHost } from './managed-objects.ts'
import { listChangedSettings, type NodeSettings, nodeSettingsAnnotation } from './node-settings.ts'
import type { Node } from './node.ts'

/** A change that `up` makes through the Kubernetes API and not with an op on a host. */
export type ClusterObjectChange =
  | {
      readonly kind: 'object'
      readonly manifest: Manifest
      /** The object that the manifest changes; undefined if it does not exist. */
      readonly previous?: KubeObject | undefined
    }
  /** An object that hyperkube created and that is no longer desired. */
  | { readonly kind: 'orphan'; readonly object: ObjectReference }
  /**
   * Lets a host of cluster.yml join that has the node name of a removed host. Until then the API refuses
   * writes of this host.
   */
  | { readonly kind: 'readmission'; readonly node: string }
  | { readonly kind: 'node'; readonly settings: NodeSettings }
  | { readonly kind: 'smoke-test'; readonly host: string }

/**
 * Describes changes as text, for example "ClusterRole hyperkube:flannel". Objects of hosts and controllers
 * are summarized.
 */
export function describeObjectChanges(changes: readonly ClusterObjectChange[]): string[] {
  const summarize = (kind: ClusterObjectChange['kind'], { findOwner, text }: ObjectGroup): string[] => {
    const some = changes.filter((change) => change.kind === kind)
    const names = new Set(some.flatMap((change) => findOwner(toObjectReference(change)) ?? []))
    return names.size === 0 ? [] : [text(truncateList([...names], 10))]
  }
  return [
    ...changes
      .filter((change) =>
        objectGroups.every(({ findOwner }) => findOwner(toObjectReference(change)) === undefined),
      )
      .map(describeChange),
    ...objectGroups.flatMap((one) => summarize('object', one)),
    ...objectGroups.flatMap((one) => summarize('orphan', one)).map((text) => `${text} (removed)`),
  ]
}

/** Similar objects that are summarized by their owner. */
interface ObjectGroup {
  readonly findOwner: (object: Pick<ObjectReference, 'kind' | 'name'>) => string | undefined
  readonly text: (names: string) => string
}

const objectGroups: readonly ObjectGroup[] = [
  { findOwner: readController, text: (names) => `RBAC rules of ${names}` },
  { findOwner: findOwningHost, text: (names) => `cluster objects of ${names}` },
]

function readController({ name }: Pick<ObjectReference, 'name'>): string | undefined {
  if (name === managerUser) return 'the controller manager'
  return name.startsWith(controllerUserPrefix) ? name.slice(controllerUserPrefix.length) : undefined
}

function toObjectReference(change: ClusterObjectChange): Pick<ObjectReference, 'kind' | 'name'> {
  if (change.kind === 'orphan') return change.object
  return change.kind === 'object' ? toReference(change.manifest) : { kind: '', name: '' }
}

function describeChange(change: ClusterObjectChange): string {
  if (change.kind === 'readmission') return `API access of ${change.node}, a name that was removed before`
  if (change.kind === 'node') return describeNodeChange(change.settings)
  if (change.kind === 'smoke-test') return `interrupted smoke test of ${change.host}`
  if (change.kind === 'orphan') return `${describeReference(change.object)} (removed)`
  const { kind, metadata } = change.manifest
  return `${kind} ${metadata.name}`
}

/** Describes a change of a node. Without another change, only the record of earlier labels and taints changes. */
function describeNodeChange({ name, labels, taints, uncordon }: NodeSettings): string {
  const parts = [
    ...(Object.keys(labels).length > 0 ? ['labels'] : []),
    ...(taints === undefined ? [] : ['taints']),
    ...(uncordon === true ? ['the cordon'] : []),
  ]
  return `${parts.length > 0 ? joinNames(parts) : `annotation ${nodeSettingsAnnotation}`} of node ${name}`
}

/** Finds changes to labels and taints of registered nodes. */
export function findNodeChanges(plans: readonly NodePlan[], nodes: readonly Node[]): ClusterObjectChange[] {
  return listChangedSettings(plans, nodes).map((settings) => ({ kind: 'node', settings }))
}

/**
 * Finds nodes whose smoke test was interrupted. The test is repeated, because these nodes may not have passed
 * it.
 */
export function findSmokeTestChanges(
  plans: readonly NodePlan[],
  smokeTestNodes: readonly string[],
): ClusterObjectChange[] {
  return plans.flatMap(({ host, node }) =>
    smokeTestNodes.includes(node?.name ?? '') ? [{ kind: 'smoke-test', host } as const] : [],
  )
}
