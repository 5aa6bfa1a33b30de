import { z } from 'zod'
import { type Kind, kubeObject } from '../kube/object.ts'
import { Source } from '../kube/source.ts'

const node = kubeObject.extend({
  status: z
    .looseObject({ nodeInfo: z.looseObject({ kubeletVersion: z.string().default('') }).optional() })
    .optional(),
})
const nodeKind: Kind<z.infer<typeof node>> = { apiVersion: 'v1', kind: 'Node', schema: node }

/** What is kept of a node: as little as all who look at it need, for there may be thousands. */
export interface KnownNode {
  readonly name: string
  readonly uid: string | undefined
  readonly kubelet: string
}

export const nodes = new Source({
  name: 'nodes',
  kind: nodeKind,
  select: ({ metadata: { name, uid }, status }): KnownNode => ({
    name,
    uid,
    kubelet: status?.nodeInfo?.kubeletVersion ?? '',
  }),
  indexes: [['kubelet', ({ kubelet }: KnownNode) => [kubelet]]],
})
