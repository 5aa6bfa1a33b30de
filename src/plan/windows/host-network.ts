import { cloudMetadata } from '../../contract/cloud-metadata.ts'
import type { WindowsNetwork } from '../../contract/windows-network.ts'
import { addressAt, overlap, rangeOf } from '../../spec/cidr.ts'
import type { WindowsScene } from '../context.ts'
import { overlayName } from './overlay.ts'

/** The network that keeps the switch. */
export const holdName = 'hyperkube-switch'

/** Nobody is ever in it; it only must not be a part of the cluster's own networks. */
const holdSubnets = ['192.168.255.0/30', '172.31.255.0/30', '10.255.255.0/30'] as const

/** No network of flannel's has it: those have the cluster's VNI. */
const holdId = 9999

export function hostNetwork(scene: Pick<WindowsScene, 'cluster' | 'address'>): WindowsNetwork {
  const { cluster, address } = scene
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'WindowsNetwork',
    address,
    metadata: metadataOf(scene),
    ...(cluster.spec.network.plugin === 'flannel' ? { overlay: overlayOf(scene) } : {}),
  }
}

/** Destinations of the cloud's, and of the person's own. */
export function metadataOf({ cluster }: Pick<WindowsScene, 'cluster'>): string[] {
  const { cloud, metadataAddresses } = cluster.spec.windows
  const own = metadataAddresses.map((address) => `${address}/32`)
  return [...new Set([...cloudMetadata[cloud], ...own])].toSorted()
}

function overlayOf({ cluster }: Pick<WindowsScene, 'cluster'>): WindowsNetwork['overlay'] {
  const { pods, services } = cluster.spec.network
  const taken = [...pods, ...services].map(rangeOf)
  const free = holdSubnets.find((subnet) => !taken.some((one) => overlap(one, rangeOf(subnet))))
  const subnet = free ?? holdSubnets[0]
  return {
    hold: { name: holdName, subnet, gateway: addressAt(subnet, 1), vsid: holdId },
    network: { name: overlayName({ cluster }), type: 'overlay' },
  }
}
