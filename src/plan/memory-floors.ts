/**
 * What each program needs to go on, in MiB: somewhat above what it was seen to take in a small cluster. The kubelet
 * keeps the sum of a host away from pods, which it could not know by itself.
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

export function memoryFloor(component: FlooredComponent): string {
  return `${memoryFloors[component]}M`
}
