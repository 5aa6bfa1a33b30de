import { z } from 'zod'
import { type Kind, kubeObject } from '../../kube/object.ts'

const taint = z.looseObject({ key: z.string(), value: z.string().default(''), effect: z.string() })
export type Taint = z.infer<typeof taint>

const schema = kubeObject.extend({
  spec: z
    .looseObject({
      taints: z.array(taint).default([]),
      /** True if the node is cordoned. */
      unschedulable: z.boolean().optional(),
    })
    .optional(),
  status: z
    .looseObject({
      conditions: z
        .array(
          z.looseObject({
            type: z.string(),
            status: z.string(),
            message: z.string().optional(),
            lastTransitionTime: z.string().optional(),
          }),
        )
        .default([]),
      nodeInfo: z.looseObject({ kubeletVersion: z.string() }).optional(),
      addresses: z.array(z.looseObject({ type: z.string(), address: z.string() })).optional(),
    })
    .optional(),
})
export type Node = z.infer<typeof schema>

export const nodeKind: Kind<Node> = { apiVersion: 'v1', kind: 'Node', schema }

/** Explains why some of the wanted nodes are not ready; undefined if all of them are ready. */
export function explainNotReadyNodes(nodes: readonly Node[], wanted: readonly string[]): string | undefined {
  const known = new Map(nodes.map((node) => [node.metadata.name, node]))
  const [first, ...others] = wanted.flatMap((name) => {
    const reason = explainNotReady(known.get(name))
    return reason === undefined ? [] : [`${name}: ${reason}`]
  })
  return others.length === 0 ? first : `${first}; and ${others.length} more`
}

export function explainNotReady(node: Node | undefined): string | undefined {
  if (node === undefined) return 'it has not registered'
  const ready = node.status?.conditions.find(({ type }) => type === 'Ready')
  return ready?.status === 'True' ? undefined : (ready?.message ?? 'it has not said how it is')
}
