/**
 * Memory that each program needs to keep working, in MiB: slightly more than measured in a small cluster. The
 * kubelet reserves the sum for a host, because it cannot measure these values.
 */
export const memoryFloors = {
  'hyperkube-agent': 128,
  etcd: 256,
  'kube-apiserver': 512,
  'kube-controller-manager': 192,
  'kube-scheduler': 128,
  'hyperkube-controller-manager': 96,
  containerd: 128,
  'apiserver-proxy': 96,
  kubelet: 192,
  flanneld: 64,
  'kube-proxy': 96,
} as const

export type FlooredComponent = keyof typeof memoryFloors

export function formatMemoryFloor(component: FlooredComponent): string {
  return `${memoryFloors[component]}M`
}
