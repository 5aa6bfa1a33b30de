import type { NodePlan } from '../contract/node-plan.ts'

/** Builds a plan without components. Diffing against it removes all resources from a host in a safe order. */
export function buildEmptyPlan(cluster: NodePlan['cluster'], host: string): NodePlan {
  const head = { apiVersion: 'hyperkube.dev/v1', kind: 'NodePlan', os: 'linux', arch: 'amd64' } as const
  return { ...head, cluster, host, address: '', roles: [], components: [] }
}
