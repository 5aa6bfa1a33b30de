import type { PlanContext } from './context.ts'

/** Renders flannel's net-conf.json. Only the setting for nftables can differ between hosts. */
export function renderFlannelNetwork(
  { cluster }: PlanContext,
  { nftables }: { readonly nftables: boolean },
): string {
  const { pods, flannel } = cluster.spec.network
  const { backend, vni, port, mtu } = flannel
  const config = {
    Network: pods[0],
    EnableIPv4: true,
    EnableNFTables: nftables,
    Backend: {
      Type: backend,
      ...(backend === 'vxlan' ? { VNI: vni, Port: port } : {}),
      ...(mtu === undefined ? {} : { MTU: mtu }),
    },
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}
