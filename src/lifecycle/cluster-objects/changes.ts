import { describeReference, type Reference, referenceOf } from '../../addons/reference.ts'
import { controllerUsers, managerUser } from '../../contract/manager-settings.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { KubeClient } from '../../kube/client.ts'
import { firstFew } from '../../kit/truncate-list.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import type { Manifest } from '../../kube/object.ts'
import { list } from '../../kube/read-objects.ts'
import { merge } from '../../kube/write-objects.ts'
import { type Node, nodeKind } from './node.ts'
import { hostOf } from './managed-objects.ts'
import { nodeSettings, type NodeSettings } from './node-settings.ts'

/** Something that is to be changed in the cluster itself, and not on a host. */
export type InsideChange =
  | { readonly kind: 'object'; readonly manifest: Manifest }
  /** One of ours that nobody wishes any more. */
  | { readonly kind: 'stray'; readonly object: Reference }
  | { readonly kind: 'node'; readonly settings: NodeSettings }
  | { readonly kind: 'trial'; readonly host: string }

/** For people: ClusterRole hyperkube:flannel. What all hosts have, and all controllers, is said of them together. */
export function describeChanges(changes: readonly InsideChange[]): string[] {
  const together = (kind: InsideChange['kind'], { of, text }: Many): string[] => {
    const some = changes.filter((change) => change.kind === kind)
    const names = new Set(some.flatMap((change) => of(objectOf(change)) ?? []))
    return names.size === 0 ? [] : [text(firstFew([...names], 10))]
  }
  return [
    ...changes
      .filter((change) => many.every(({ of }) => of(objectOf(change)) === undefined))
      .map(describeChange),
    ...many.flatMap((one) => together('object', one)),
    ...many.flatMap((one) => together('stray', one)).map((text) => `${text}, which goes`),
  ]
}

/** Objects of which there are many that are alike, by whose they are. */
interface Many {
  readonly of: (object: Pick<Reference, 'kind' | 'name'>) => string | undefined
  readonly text: (names: string) => string
}

const many: readonly Many[] = [
  { of: controllerOf, text: (names) => `rights of ${names}` },
  { of: hostOf, text: (names) => `what the cluster keeps of ${names}` },
]

function controllerOf({ name }: Pick<Reference, 'name'>): string | undefined {
  if (name === managerUser) return 'the controller manager'
  return name.startsWith(controllerUsers) ? name.slice(controllerUsers.length) : undefined
}

function objectOf(change: InsideChange): Pick<Reference, 'kind' | 'name'> {
  if (change.kind === 'stray') return change.object
  return change.kind === 'object' ? referenceOf(change.manifest) : { kind: '', name: '' }
}

function describeChange(change: InsideChange): string {
  if (change.kind === 'node') return `labels and taints of node ${change.settings.name}`
  if (change.kind === 'trial') return `the trial of ${change.host}, which was cut`
  if (change.kind === 'stray') return `${describeReference(change.object)}, which goes`
  const { kind, metadata } = change.manifest
  return `${kind} ${metadata.name}`
}

/** Of nodes that have registered. */
export function nodeChanges(plans: readonly NodePlan[], nodes: readonly Node[]): InsideChange[] {
  const known = new Map(nodes.map((node) => [node.metadata.name, node]))
  return plans.flatMap(({ node: wish }) => {
    const node = known.get(wish?.name ?? '')
    const settings = wish === undefined || node === undefined ? undefined : nodeSettings(wish, node)
    return settings === undefined ? [] : [{ kind: 'node', settings } as const]
  })
}

/** Nodes that were to show that they work when a run was cut, and may not have shown it. */
export function trialChanges(plans: readonly NodePlan[], trials: readonly string[]): InsideChange[] {
  return plans.flatMap(({ host, node }) =>
    trials.includes(node?.name ?? '') ? [{ kind: 'trial', host } as const] : [],
  )
}

const turns = 20

/** Looks again when somebody else has changed taints in between: a node that becomes ready loses some. */
export async function settleNodes(api: KubeClient, plans: readonly NodePlan[]): Promise<void> {
  for (let turn = 1; ; turn++) {
    const changes = nodeChanges(plans, (await list(api, nodeKind)).items)
    const results = await Promise.allSettled(
      changes.map(async (change) => {
        if (change.kind === 'node') await settle(api, change.settings)
      }),
    )
    const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    if (reasons.length === 0) return
    const failure = reasons.find((reason) => !isKubeError(reason, 'KUBE_CONFLICT'))
    if (failure !== undefined || turn === turns) throw failure ?? reasons[0]
  }
}

async function settle(api: KubeClient, { name, labels, annotations, taints }: NodeSettings): Promise<void> {
  const resourceVersion = taints?.resourceVersion
  const spec = taints === undefined ? {} : { spec: { taints: taints.all } }
  await merge(api, nodeKind, { name }, { metadata: { labels, annotations, resourceVersion }, ...spec })
}
