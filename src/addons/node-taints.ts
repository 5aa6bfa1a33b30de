import { z } from 'zod'
import { formatNames } from '../kit/text.ts'
import type { KubeClient } from '../kube/client.ts'
import { type Kind, kubeObject } from '../kube/object.ts'
import { listObjects } from '../kube/read-objects.ts'
import type { KubeCallOptions } from '../kube/request.ts'

const node = kubeObject.extend({
  spec: z
    .looseObject({ taints: z.array(z.looseObject({ key: z.string(), effect: z.string() })).default([]) })
    .optional(),
})
type TaintedNode = z.infer<typeof node>
const taintedNodeKind: Kind<TaintedNode> = { apiVersion: 'v1', kind: 'Node', schema: node }

/** Prefix of the taints that Kubernetes itself sets. */
export const nodeTaintPrefix = 'node.kubernetes.io/'

/** True for a taint of Kubernetes itself that keeps new pods away from a node. */
export function isBlockingTaint({ key, effect }: { readonly key: string; readonly effect: string }): boolean {
  return key.startsWith(nodeTaintPrefix) && effect !== 'PreferNoSchedule'
}

/**
 * Lists the node conditions that keep pods away, each with its nodes and its taint. The scheduler itself
 * reports only how many nodes have a taint. Returns undefined if no node has such a taint, or if nodes cannot
 * be read.
 */
export async function explainTaints(
  client: KubeClient,
  options: KubeCallOptions,
): Promise<string | undefined> {
  const nodes = await listObjects(client, taintedNodeKind, options).catch(() => undefined)
  const taints = (nodes?.items ?? []).flatMap(({ metadata: { name }, spec }) =>
    (spec?.taints ?? []).filter(isBlockingTaint).map(({ key }) => ({ key, name })),
  )
  const lines = [...Map.groupBy(taints, ({ key }) => key)].map(([key, affected]) => {
    const names = [...new Set(affected.map(({ name }) => name))]
    return `${key.slice(nodeTaintPrefix.length).replaceAll('-', ' ')} on ${formatNames(names)}, taint ${key}`
  })
  return lines.length === 0 ? undefined : lines.join('; ')
}
