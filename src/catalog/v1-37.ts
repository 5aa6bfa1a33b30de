import type { Release } from './release.ts'

export const v1_37: readonly Release[] = [
  {
    kubernetes: '1.37.1',
    etcd: '3.7.3',
    containerd: '2.3.7',
    runc: '1.5.2',
    cniPlugins: '1.9.1',
    flannel: '0.28.7',
    crictl: '1.36.0',
    images: { pause: 'registry.k8s.io/pause:3.10.2' },
  },
]
