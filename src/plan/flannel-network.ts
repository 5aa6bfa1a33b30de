import type { Scene } from './context.ts'

/** flannel's own file. The same on all hosts but for how packets are rewritten. */
export function flannelNetwork({ cluster }: Scene, { nftables }: { readonly nftables: boolean }): string {
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
