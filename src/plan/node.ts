import type { NodePlan } from '../contract/node-plan.ts'
import { isControlPlane, isNode, type PlanContext } from './context.ts'

const controlPlaneRole = 'node-role.kubernetes.io/control-plane'

/** Plans name, labels and taints of the Kubernetes node. Returns undefined if the host is not a node. */
export function planNode(context: Pick<PlanContext, 'host' | 'system'>): NodePlan['node'] {
  if (!isNode(context)) return undefined
  const { host, system } = context
  return {
    name: host.nodeName ?? host.name,
    labels: sortLabels({ ...(isControlPlane(context) ? { [controlPlaneRole]: '' } : {}), ...host.labels }),
    taints: host.taints ?? [
      // A control plane that is also a worker gets no taint and accepts all pods.
      ...(isControlPlane(context) && !host.roles.includes('worker')
        ? [{ key: controlPlaneRole, value: '', effect: 'NoSchedule' as const }]
        : []),
      // Windows nodes get a taint, because most images are built for Linux and most pods have no node
      // selector.
      ...(system.os === 'windows' ? [{ key: 'os', value: 'windows', effect: 'NoSchedule' as const }] : []),
    ],
  }
}

function sortLabels(labels: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Label prefixes that Kubernetes reserves but that a kubelet may still set on its own node. `allowedKeys`
 * lists single reserved labels that a kubelet may also set.
 */
const allowedPrefixes = ['kubelet.kubernetes.io', 'node.kubernetes.io']
const allowedKeys = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/arch',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
])

/**
 * True if a kubelet may set this label on its own node. Other labels are set through the API; otherwise a
 * compromised node could label itself as a control plane.
 */
export function canNodeSetLabel(key: string): boolean {
  const prefix = key.includes('/') ? key.slice(0, key.indexOf('/')) : ''
  const reserved = /(^|\.)(kubernetes|k8s)\.io$/.test(prefix)
  return (
    !reserved ||
    allowedKeys.has(key) ||
    allowedPrefixes.some((one) => prefix === one || prefix.endsWith(`.${one}`))
  )
}
