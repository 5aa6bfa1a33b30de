/** Group of the users with which flanneld reads nodes and publishes its address. */
export const flannelGroup = 'hyperkube:flannel'

/** Returns the Kubernetes user of flanneld on a node. No two nodes share a user. */
export function formatFlannelUser(node: string): string {
  return `${flannelGroup}:${node}`
}

/** Group of the users of kube-proxy. */
export const kubeProxyGroup = 'hyperkube:kube-proxies'

/** Returns the Kubernetes user of kube-proxy on a node. */
export function formatKubeProxyUser(node: string): string {
  return `hyperkube:kube-proxy:${node}`
}

/** Group of the users with which kube-router reads pods and policies. */
export const kubeRouterGroup = 'hyperkube:kube-routers'

/** Returns the Kubernetes user of kube-router on a node. */
export function formatKubeRouterUser(node: string): string {
  return `hyperkube:kube-router:${node}`
}
