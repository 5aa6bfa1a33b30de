import { usesKubeProxy, usesKubeRouter } from '../spec/network.ts'
import { isControlPlane, isEtcdMember, isManager, isNode, type PlanContext } from './context.ts'

/** Lists the components of a host that have an entry in `memoryFloors`. */
export function listFlooredComponents(
  context: Pick<PlanContext, 'cluster' | 'host' | 'topology'>,
): FlooredComponent[] {
  return [
    'hyperkube-agent',
    ...(isEtcdMember(context) ? (['etcd'] as const) : []),
    ...(isControlPlane(context)
      ? (['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const)
      : []),
    ...(isManager(context) ? (['hyperkube-controller-manager'] as const) : []),
    ...(isControlPlane(context) && context.cluster.spec.api.virtualIP !== undefined
      ? (['hyperkube-keepalived'] as const)
      : []),
    ...(isNode(context) ? (['containerd', 'apiserver-proxy', 'kubelet'] as const) : []),
    ...(isNode(context) && usesKubeProxy(context.cluster.spec.network) ? (['kube-proxy'] as const) : []),
    ...(isNode(context) && context.cluster.spec.network.plugin === 'flannel' ? (['flanneld'] as const) : []),
    ...(isNode(context) && context.host.os === 'linux' && usesKubeRouter(context.cluster.spec.network)
      ? (['kube-router'] as const)
      : []),
  ]
}

type Amounts = Readonly<Record<string, string>>

/** Computes the resources that the kubelet reserves for the system and for hyperkube's services. */
export function computeReservedResources(context: PlanContext): {
  systemReserved: Amounts
  kubeReserved: Amounts
} {
  const { kubelet } = context.cluster.spec.components
  const memory = listFlooredComponents(context).reduce((sum, name) => sum + memoryFloors[name], 0)
  return {
    kubeReserved: mergeAmounts({ memory: `${memory}Mi` }, kubelet.kubeReserved),
    systemReserved: mergeAmounts(kubelet.systemReserved, context.host.components?.kubelet?.systemReserved),
  }
}

function mergeAmounts(
  ...sources: readonly (Readonly<Record<string, string | undefined>> | undefined)[]
): Amounts {
  const all = sources.flatMap((source) => Object.entries(source ?? {}))
  return Object.fromEntries(all.flatMap(([name, amount]) => (amount === undefined ? [] : [[name, amount]])))
}

/**
 * Memory that each program needs to keep working, in MiB: slightly more than measured in a small cluster. The
 * kubelet does not know these values, so the plan sets their sum as its `kubeReserved`.
 */
export const memoryFloors = {
  'hyperkube-agent': 128,
  etcd: 256,
  'kube-apiserver': 512,
  'kube-controller-manager': 192,
  'kube-scheduler': 128,
  'hyperkube-controller-manager': 96,
  'hyperkube-keepalived': 32,
  containerd: 128,
  'apiserver-proxy': 96,
  kubelet: 192,
  flanneld: 64,
  'kube-router': 80,
  'kube-proxy': 96,
} as const

type FlooredComponent = keyof typeof memoryFloors

export function formatMemoryFloor(component: FlooredComponent): string {
  return `${memoryFloors[component]}M`
}
