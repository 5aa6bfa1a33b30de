import type { WindowsScene } from '../context.ts'

/** The network of pods as Windows knows it: flannel makes it, pods join it and kube-proxy looks for it by this name. */
export function overlayName({ cluster }: Pick<WindowsScene, 'cluster'>): string {
  return `flannel.${cluster.spec.network.flannel.vni}`
}
