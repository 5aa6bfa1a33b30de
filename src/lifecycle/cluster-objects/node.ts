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
