import type { NodePlan } from '../contract/node-plan.ts'
import { isControlPlane, isNode, type PlanContext } from './context.ts'

const controlPlaneRole = 'node-role.kubernetes.io/control-plane'

/** Plans the Kubernetes node of a host. */
export function planNode(context: Pick<PlanContext, 'host' | 'system'>): NodePlan['node'] {
  if (!isNode(context)) return undefined
  const { host, system } = context
  return {
    name: host.nodeName ?? host.name,
    labels: sortLabels({ ...(isControlPlane(context) ? { [controlPlaneRole]: '' } : {}), ...host.labels }),
    taints: host.taints ?? [
      // A control plane that is also a worker accepts all pods.
      ...(isControlPlane(context) && !host.roles.includes('worker')
        ? [{ key: controlPlaneRole, value: '', effect: 'NoSchedule' as const }]
        : []),
      // Most images are built for Linux, and most pods have no node selector for it.
      ...(system.os === 'windows' ? [{ key: 'os', value: 'windows', effect: 'NoSchedule' as const }] : []),
    ],
  }
}

function sortLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
