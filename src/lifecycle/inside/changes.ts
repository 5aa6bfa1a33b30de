import type { NodePlan } from '../../contract/node-plan.ts'
import { settleAll } from '../../kit/settle.ts'
import type { KubeClient } from '../../kube/client.ts'
import { kindOf, type Manifest } from '../../kube/object.ts'
import { isKubeError } from '../../kube/kube-error.ts'
import { find, list } from '../../kube/read.ts'
import { satisfies } from '../../kube/satisfies.ts'
import { apply, merge } from '../../kube/write.ts'
import { type Node, nodeKind } from './node.ts'
import { nodeSettings, type NodeSettings } from './node-settings.ts'

/** Something that is to be changed in the cluster itself, and not on a host. */
export type InsideChange =
  | { readonly kind: 'object'; readonly manifest: Manifest }
  | { readonly kind: 'node'; readonly settings: NodeSettings }
  | { readonly kind: 'trial'; readonly host: string }

/** For people: ClusterRole hyperkube:flannel. */
export function describeChange(change: InsideChange): string {
  if (change.kind === 'node') return `labels and taints of node ${change.settings.name}`
  if (change.kind === 'trial') return `the trial of ${change.host}, which was cut`
  const { kind, metadata } = change.manifest
  return `${kind} ${metadata.name}`
}

/** Those that are not there yet, or are not what they should be. */
export async function objectChanges(api: KubeClient, wishes: readonly Manifest[]): Promise<InsideChange[]> {
  const looked = await settleAll(
    wishes.map(async (manifest) => {
      const object = await find(api, kindOf(manifest.apiVersion, manifest.kind), manifest.metadata)
      return satisfies(object, manifest) ? [] : [{ kind: 'object', manifest } as const]
    }),
  )
  return looked.flat()
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

/** Fields that others have changed are taken back: rights must be what we say. */
export async function applyObjects(api: KubeClient, changes: readonly InsideChange[]): Promise<void> {
  await settleAll(
    changes.map(async (change) => {
      if (change.kind === 'object') await apply(api, change.manifest, { force: true })
    }),
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
