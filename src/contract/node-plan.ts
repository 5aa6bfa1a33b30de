import { z } from 'zod'
import { componentPlan } from './component-plan.ts'
import type { Format } from './versioned.ts'

const taint = z.strictObject({
  key: z.string(),
  value: z.string(),
  effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']),
})

const nodePlan = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('NodePlan'),
  cluster: z.strictObject({ name: z.string(), id: z.uuid() }),
  host: z.string(),
  /** Address at which other hosts reach this host. */
  address: z.string(),
  os: z.enum(['linux', 'windows']),
  arch: z.enum(['amd64', 'arm64']),
  roles: z.array(z.enum(['control-plane', 'etcd', 'worker'])),
  /** Kubernetes node of the host; absent if the host runs only etcd. */
  node: z
    .strictObject({
      name: z.string(),
      labels: z.record(z.string(), z.string()),
      taints: z.array(taint),
    })
    .optional(),
  /** Components in the order of their setup. */
  components: z.array(componentPlan),
})

/** The complete desired state of one host, as plain data. */
export type NodePlan = z.infer<typeof nodePlan>

export const nodePlanFormat: Format<NodePlan> = {
  kind: 'NodePlan',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: nodePlan },
  older: [],
}
