import type { PlanContext } from './context.ts'

/** Renders net-conf.json of flannel. It is equal on all hosts except for nftables. */
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
