import { z } from 'zod'
import { type Kind, kubeObject } from '../kube/object.ts'

const schema = kubeObject.extend({
  status: z
    .looseObject({
      conditions: z
        .array(z.looseObject({ type: z.string(), status: z.string(), message: z.string().optional() }))
        .default([]),
    })
    .optional(),
})
type Node = z.infer<typeof schema>

export const nodeKind: Kind<Node> = { apiVersion: 'v1', kind: 'Node', schema }

/** Why not all of some nodes are ready; undefined when they are. */
export function notReady(nodes: readonly Node[], wanted: readonly string[]): string | undefined {
  const known = new Map(nodes.map((node) => [node.metadata.name, node]))
  const reasons = wanted.flatMap((name) => {
    const node = known.get(name)
    if (node === undefined) return [`${name} has not registered`]
    const ready = node.status?.conditions.find(({ type }) => type === 'Ready')
    return ready?.status === 'True' ? [] : [`${name}: ${ready?.message ?? 'it has not said how it is'}`]
  })
  const [first, ...others] = reasons
  return others.length === 0 ? first : `${first}; and ${others.length} more`
}
