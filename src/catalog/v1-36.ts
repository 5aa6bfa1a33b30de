import type { KubernetesRelease } from './kubernetes-release.ts'

export const v1_36: readonly KubernetesRelease[] = [
  {
    kubernetes: '1.36.4',
    etcd: '3.6.16',
    containerd: '2.3.7',
    runc: '1.5.2',
    cniPlugins: '1.9.1',
    flannel: '0.28.7',
    crictl: '1.36.0',
    shawl: '1.9.0',
    images: {
      pause: 'registry.k8s.io/pause:3.10.2',
      coredns: 'registry.k8s.io/coredns/coredns:v1.15.0',
      'metrics-server': 'registry.k8s.io/metrics-server/metrics-server:v0.9.0',
      traefik: 'docker.io/library/traefik:v3.6.12',
      'local-path-provisioner': 'docker.io/rancher/local-path-provisioner:v0.0.30',
      busybox: 'docker.io/library/busybox:1.37.0',
    },
  },
]
