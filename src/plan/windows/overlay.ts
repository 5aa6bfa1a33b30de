import type { WindowsPlanContext } from '../context.ts'

/** HNS name of the pod network. flanneld creates it, pods join it and kube-proxy looks it up by this name. */
export function formatOverlayName({ cluster }: Pick<WindowsPlanContext, 'cluster'>): string {
  return `flannel.${cluster.spec.network.flannel.vni}`
}
