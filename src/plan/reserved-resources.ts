import { type FlooredComponent, memoryFloors } from './memory-floors.ts'
import { isControlPlane, isEtcdMember, isManager, isNode, type Scene } from './context.ts'

/** Our services on a host that have a floor. */
export function flooredComponents(scene: Pick<Scene, 'cluster' | 'host' | 'topology'>): FlooredComponent[] {
  return [
    'hyperkube-agent',
    ...(isEtcdMember(scene) ? (['etcd'] as const) : []),
    ...(isControlPlane(scene)
      ? (['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'] as const)
      : []),
    ...(isManager(scene) ? (['hyperkube-controller-manager'] as const) : []),
    ...(isNode(scene) ? (['containerd', 'apiserver-proxy', 'kubelet', 'kube-proxy'] as const) : []),
    ...(isNode(scene) && scene.cluster.spec.network.plugin === 'flannel' ? (['flanneld'] as const) : []),
  ]
}

type Amounts = Readonly<Record<string, string>>

/** What the kubelet must keep away from pods, because others on the host need it. */
export function reserved(scene: Scene): { systemReserved: Amounts; kubeReserved: Amounts } {
  const { kubelet } = scene.cluster.spec.components
  const memory = flooredComponents(scene).reduce((sum, name) => sum + memoryFloors[name], 0)
  return {
    kubeReserved: amounts({ memory: `${memory}Mi` }, kubelet.kubeReserved),
    systemReserved: amounts(kubelet.systemReserved, scene.host.components?.kubelet?.systemReserved),
  }
}

function amounts(...wishes: readonly (Readonly<Record<string, string | undefined>> | undefined)[]): Amounts {
  const all = wishes.flatMap((wish) => Object.entries(wish ?? {}))
  return Object.fromEntries(all.flatMap(([name, amount]) => (amount === undefined ? [] : [[name, amount]])))
}
