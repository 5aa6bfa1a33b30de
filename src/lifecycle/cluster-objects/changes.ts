import { describeReference, type ObjectReference, toReference } from '../../addons/reference.ts'
import { controllerUserPrefix, managerUser } from '../../contract/manager-settings.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { KubeClient } from '../../kube/client.ts'
import { truncateList } from '../../kit/truncate-list.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import type { Manifest } from '../../kube/object.ts'
import { listObjects } from '../../kube/read-objects.ts'
import { patchObject } from '../../kube/write-objects.ts'
import { type Node, nodeKind } from './node.ts'
import { findOwningHost } from './managed-objects.ts'
import { computeNodeSettings, type NodeSettings } from './node-settings.ts'

/** A change to cluster objects, independent of hosts. */
export type ClusterObjectChange =
  | { readonly kind: 'object'; readonly manifest: Manifest }
  /** An object that hyperkube created and that is no longer desired. */
  | { readonly kind: 'orphan'; readonly object: ObjectReference }
  | { readonly kind: 'node'; readonly settings: NodeSettings }
  | { readonly kind: 'trial'; readonly host: string }

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
    ...objectGroups.flatMap((one) => summarize('orphan', one)).map((text) => `${text}, which goes`),
  ]
}

/** Similar objects that are summarized by their owner. */
interface ObjectGroup {
  readonly findOwner: (object: Pick<ObjectReference, 'kind' | 'name'>) => string | undefined
  readonly text: (names: string) => string
}

const objectGroups: readonly ObjectGroup[] = [
  { findOwner: readController, text: (names) => `rights of ${names}` },
  { findOwner: findOwningHost, text: (names) => `what the cluster keeps of ${names}` },
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
  if (change.kind === 'node') return `labels and taints of node ${change.settings.name}`
  if (change.kind === 'trial') return `the trial of ${change.host}, which was cut`
  if (change.kind === 'orphan') return `${describeReference(change.object)}, which goes`
  const { kind, metadata } = change.manifest
  return `${kind} ${metadata.name}`
}

/** Finds changes to labels and taints of registered nodes. */
export function findNodeChanges(plans: readonly NodePlan[], nodes: readonly Node[]): ClusterObjectChange[] {
  const known = new Map(nodes.map((node) => [node.metadata.name, node]))
  return plans.flatMap(({ node: desired }) => {
    const node = known.get(desired?.name ?? '')
    const settings =
      desired === undefined || node === undefined ? undefined : computeNodeSettings(desired, node)
    return settings === undefined ? [] : [{ kind: 'node', settings } as const]
  })
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
    smokeTestNodes.includes(node?.name ?? '') ? [{ kind: 'trial', host } as const] : [],
  )
}

const maxAttempts = 20

/**
 * Sets labels and taints of nodes. Retries if taints have changed in between, because a node that becomes
 * ready loses some taints.
 */
export async function syncNodeLabels(api: KubeClient, plans: readonly NodePlan[]): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const changes = findNodeChanges(plans, (await listObjects(api, nodeKind)).items)
    const results = await Promise.allSettled(
      changes.map(async (change) => {
        if (change.kind === 'node') await patchNodeSettings(api, change.settings)
      }),
    )
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    if (reasons.length === 0) return
    const failure = reasons.find((reason) => !isKubeError(reason, 'KUBE_CONFLICT'))
    if (failure !== undefined || attempt === maxAttempts) throw failure ?? reasons[0]
  }
}

async function patchNodeSettings(
  api: KubeClient,
  { name, labels, annotations, taints }: NodeSettings,
): Promise<void> {
  const resourceVersion = taints?.resourceVersion
  const spec = taints === undefined ? {} : { spec: { taints: taints.all } }
  await patchObject(api, nodeKind, { name }, { metadata: { labels, annotations, resourceVersion }, ...spec })
}
