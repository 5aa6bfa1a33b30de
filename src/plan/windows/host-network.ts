import { cloudMetadata, type WindowsNetwork } from '../../contract/windows-network.ts'
import { addressAt, rangesOverlap, toRange } from '../../spec/cidr.ts'
import type { WindowsPlanContext } from '../context.ts'

/** Name of the HNS network that keeps the virtual switch alive. */
export const switchNetworkName = 'hyperkube-switch'

/**
 * Candidates for the subnet of the switch network. Pods do not use it, but it must not overlap the cluster's
 * networks.
 */
const switchSubnets = ['192.168.255.0/30', '172.31.255.0/30', '10.255.255.0/30'] as const

/** Virtual subnet id of the switch network. It differs from the VNI that flannel uses. */
const switchVsid = 9999

export function planHostNetwork(context: Pick<WindowsPlanContext, 'cluster' | 'address'>): WindowsNetwork {
  const { cluster, address } = context
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'WindowsNetwork',
    address,
    metadata: listMetadataDestinations(context),
    ...(cluster.spec.network.plugin === 'flannel' ? { overlay: planOverlay(context) } : {}),
  }
}

/** Lists the metadata addresses of the cloud provider and those in cluster.yml. */
export function listMetadataDestinations({ cluster }: Pick<WindowsPlanContext, 'cluster'>): string[] {
  const { cloud, metadataAddresses } = cluster.spec.windows
  const custom = metadataAddresses.map((address) => `${address}/32`)
  return [...new Set([...cloudMetadata[cloud], ...custom])].toSorted()
}

function planOverlay({ cluster }: Pick<WindowsPlanContext, 'cluster'>): WindowsNetwork['overlay'] {
  const { pods, services } = cluster.spec.network
  const taken = [...pods, ...services].map(toRange)
  const free = switchSubnets.find((subnet) => !taken.some((one) => rangesOverlap(one, toRange(subnet))))
  const subnet = free ?? switchSubnets[0]
  return {
    anchor: { name: switchNetworkName, subnet, gateway: addressAt(subnet, 1), vsid: switchVsid },
    network: { name: formatOverlayName({ cluster }), type: 'overlay' },
  }
}

/** HNS name of the pod network. flanneld creates it, pods join it and kube-proxy looks it up by this name. */
export function formatOverlayName({ cluster }: Pick<WindowsPlanContext, 'cluster'>): string {
  return `flannel.${cluster.spec.network.flannel.vni}`
}
