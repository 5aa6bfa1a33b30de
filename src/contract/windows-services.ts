/**
 * Windows services that hyperkube creates. A service with such a name whose program is outside of hyperkube's
 * directory is foreign.
 */
export const ownWindowsServices = [
  'hyperkube-agent',
  'containerd',
  'apiserver-proxy',
  'kubelet',
  'flanneld',
  'kube-proxy',
] as const

/**
 * Services of other Kubernetes distributions, which would conflict with hyperkube over the host's network.
 */
export const otherNodeServices = ['rke2', 'k0sworker', 'rancher-wins'] as const

/** Services that the agent searches for on a host. */
export const watchedWindowsServices: readonly string[] = [
  ...ownWindowsServices,
  ...otherNodeServices,
  'docker',
]
