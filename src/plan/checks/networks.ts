import { isIP } from 'node:net'
import { isNode } from '../context.ts'
import { rangesOverlap, toRange } from '../../spec/cidr.ts'
import {
  type ClusterNetwork,
  hostError,
  hostWarning,
  ipv4RangesOverlap,
  type LinuxCheck,
  type SystemCheck,
  type SystemSubject,
  toIpv4Range,
} from './check.ts'

/** Names of interfaces that the cluster itself creates, and of loopback. */
export const clusterInterfaces =
  /^(lo|cni0|flannel.*|veth.*|nodelocaldns|kube-ipvs0|vEthernet \((flannel|cbr0).*)$/

/**
 * Names of Docker bridges. An overlap with such a bridge is only a warning, because it affects only Docker
 * containers and can be corrected in Docker.
 */
const dockerBridges = /^(docker0|br-[0-9a-f]{12})$/

/**
 * Checks that networks of the host do not overlap pod or service networks. Otherwise packets would be routed
 * to the wrong network.
 */
export const checkHostNetworks: SystemCheck = (subject) =>
  subject.system.addresses
    .filter((one) => !clusterInterfaces.test(one.interface))
    .flatMap((one) =>
      findOverlaps(subject, one)
        .filter(({ name }) => name === 'services' || !isPluginInterface(subject, one))
        .map(({ name, text }) => {
          const where = `${one.interface} with ${one.address}/${one.prefix}`
          const message = `${where} overlaps spec.network.${name} ${text}`
          const path = `spec.network.${name}`
          if (dockerBridges.test(one.interface)) {
            const hint = 'set "bip": "192.168.254.1/24" in /etc/docker/daemon.json, then restart Docker'
            return hostWarning(subject, 'HOST_NETWORK_OVERLAP', message, { hint, path })
          }
          const hint = `set ${path} to a network that no host uses`
          return hostError(subject, 'HOST_NETWORK_OVERLAP', message, { hint, path })
        }),
    )

type InterfaceAddress = SystemSubject['system']['addresses'][number]

/** Finds the networks of the cluster that overlap the network of an address. */
function findOverlaps(
  { networks, ipv6Networks }: SystemSubject,
  { address, prefix }: InterfaceAddress,
): readonly Pick<ClusterNetwork, 'name' | 'text'>[] {
  if (isIP(address) === 4) {
    const range = toIpv4Range(address, prefix)
    return networks.filter((network) => ipv4RangesOverlap(range, network.range))
  }
  return ipv6Networks.filter((network) => rangesOverlap(toRange(`${address}/${prefix}`), network.range))
}

/**
 * True if the interface may belong to a foreign network plugin. Its pod address is then no conflict. Such
 * interfaces cannot be recognized by name.
 */
function isPluginInterface({ cluster, address, system }: SystemSubject, one: InterfaceAddress): boolean {
  if (cluster.spec.network.plugin !== 'none') return false
  return one.address !== address && one.interface !== system.defaultInterface
}

const mtuPath = 'spec.network.flannel.mtu'

/** Warns if the flannel MTU in cluster.yml is larger than the MTU of the host interface. */
export const checkMtu: LinuxCheck = (subject) => {
  const { plugin, flannel } = subject.cluster.spec.network
  const desiredMtu = flannel.mtu
  if (desiredMtu === undefined || plugin !== 'flannel' || !isNode(subject)) return []
  const hostInterface = subject.system.addresses.find(({ address }) => address === subject.address)
  if (hostInterface?.mtu === undefined || desiredMtu <= hostInterface.mtu) return []
  const message = `the MTU ${desiredMtu} of cluster.yml exceeds the MTU ${hostInterface.mtu} of ${hostInterface.interface}: large packets would be lost`
  return [
    hostWarning(subject, 'HOST_MTU', message, {
      hint: `mtu: ${hostInterface.mtu}`,
      path: mtuPath,
      component: 'flanneld',
    }),
  ]
}
