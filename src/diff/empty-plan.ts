import type { NodePlan } from '../contract/node-plan.ts'

/** Against it everything of ours goes off a host, in the order in which it may. */
export function nothingPlanned(cluster: NodePlan['cluster'], host: string): NodePlan {
  const head = { apiVersion: 'hyperkube.dev/v1', kind: 'NodePlan', os: 'linux', arch: 'amd64' } as const
  return { ...head, cluster, host, address: '', roles: [], components: [] }
}
