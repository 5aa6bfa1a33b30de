import type { NodePlan } from '../contract/node-plan.ts'
import { isControlPlane, isNode, type Scene } from './context.ts'

const controlPlaneRole = 'node-role.kubernetes.io/control-plane'

/** The host as Kubernetes sees it. */
export function nodeOf(scene: Pick<Scene, 'host' | 'system'>): NodePlan['node'] {
  if (!isNode(scene)) return undefined
  const { host, system } = scene
  return {
    name: host.nodeName ?? host.name,
    labels: sorted({ ...(isControlPlane(scene) ? { [controlPlaneRole]: '' } : {}), ...host.labels }),
    taints: host.taints ?? [
      // A control plane that is also a worker takes everybody's pods.
      ...(isControlPlane(scene) && !host.roles.includes('worker')
        ? [{ key: controlPlaneRole, value: '', effect: 'NoSchedule' as const }]
        : []),
      // Most images are for Linux, and most people do not say so.
      ...(system.os === 'windows' ? [{ key: 'os', value: 'windows', effect: 'NoSchedule' as const }] : []),
    ],
  }
}

function sorted(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
