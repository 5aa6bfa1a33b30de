/** Services of Windows that we would make. Those of the same names whose program is not below our directory are foreign. */
export const ownWindowsServices = [
  'hyperkube-agent',
  'containerd',
  'apiserver-proxy',
  'kubelet',
  'flanneld',
  'kube-proxy',
] as const

/** Services of others who run nodes, and who would pull at the same network. */
export const otherNodeServices = ['rke2', 'k0sworker', 'rancher-wins'] as const

/** All that is looked for on a host, to say which are foreign. */
export const watchedWindowsServices: readonly string[] = [
  ...ownWindowsServices,
  ...otherNodeServices,
  'docker',
]
