import { findNetwork, isDualStack } from '../spec/network.ts'
import type { PlanContext } from './context.ts'

/** Bytes by which the headers of VXLAN over IPv6 are longer than those of VXLAN over IPv4. */
const extraIpv6Header = 20

/** MTU that is assumed for an interface whose MTU is unknown. */
const defaultMtu = 1500

/**
 * Renders flannel's net-conf.json. The setting for nftables can differ between hosts, and with dual-stack the
 * MTU too.
 */
export function renderFlannelNetwork(
  context: PlanContext,
  { nftables }: { readonly nftables: boolean },
): string {
  const { network } = context.cluster.spec
  const [pods, podsIpv6] = [findNetwork(network.pods, 4), findNetwork(network.pods, 6)]
  const { backend, vni, port } = network.flannel
  const mtu = selectMtu(context)
  const config = {
    Network: pods,
    EnableIPv4: true,
    ...(podsIpv6 === undefined ? {} : { IPv6Network: podsIpv6, EnableIPv6: true }),
    EnableNFTables: nftables,
    Backend: {
      Type: backend,
      ...(backend === 'vxlan' ? { VNI: vni, Port: port } : {}),
      ...(mtu === undefined ? {} : { MTU: mtu }),
    },
  }
  return `${JSON.stringify(config, undefined, 2)}\n`
}

/**
 * Selects the MTU that flannel uses for the host interface; undefined means that flannel reads it. flannel
 * subtracts only the headers of VXLAN over IPv4, so larger IPv6 packets of pods would be lost without the
 * reduction.
 */
function selectMtu({ cluster, system, address }: PlanContext): number | undefined {
  const { network } = cluster.spec
  const { backend, mtu: desired } = network.flannel
  if (!isDualStack(network) || backend !== 'vxlan') return desired
  const { mtu = defaultMtu } = system.addresses.find((one) => one.address === address) ?? {}
  return (desired ?? mtu) - extraIpv6Header
}
