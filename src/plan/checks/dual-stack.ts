import type { Finding } from '../../contract/finding.ts'
import { truncateList } from '../../kit/text.ts'
import { isDualStack, isIpv6First } from '../../spec/network.ts'
import { isNode } from '../context.ts'
import { findDevice, listIpv6Candidates } from '../topology.ts'
import { hostError, hostWarning, type LinuxCheck, type SystemSubject } from './check.ts'

/** Checks that a node of a dual-stack cluster has an IPv6 address of its own, beside its IPv4 address. */
export const checkIpv6Address: LinuxCheck = (subject) => {
  const { cluster, host, system, address, ipv6Address } = subject
  if (!isDualStack(cluster.spec.network) || !isNode(subject)) return []
  if (ipv6Address === undefined) return [missingAddress(subject)]
  const others = (subject.hostsByAddress.get(ipv6Address) ?? []).filter((name) => name !== host.name)
  if (others.length > 0) {
    const message = `its address ${ipv6Address} is also the address of ${truncateList(others, 10)}`
    return [addressError(subject, 'HOST_ADDRESS_DUPLICATE', message)]
  }
  const own = findDevice(system, ipv6Address)
  if (own === undefined) {
    const message = `no interface of the host has the address ${ipv6Address}`
    return [addressError(subject, 'HOST_ADDRESS_NOT_THERE', message)]
  }
  const primary = findDevice(system, address)
  if (cluster.spec.network.plugin === 'flannel' && primary !== undefined && primary !== own) {
    const message = `${ipv6Address} is on ${own}, but ${address} is on ${primary}: flannel uses one interface`
    return [addressError(subject, 'HOST_ADDRESS_NOT_THERE', message)]
  }
  return []
}

function addressError(subject: SystemSubject, code: string, message: string): Finding {
  const { cluster, host, facts, index } = subject
  const [first] = listIpv6Candidates(cluster, host, facts.get(host.name))
  const hint = first === undefined ? 'give the interface an IPv6 address' : `internalAddressIPv6: ${first}`
  return hostError(subject, code, message, { hint, path: `spec.hosts[${index}].internalAddressIPv6` })
}

function missingAddress(subject: SystemSubject): Finding {
  const { cluster, address, host, facts, system } = subject
  const candidates = listIpv6Candidates(cluster, host, facts.get(host.name))
  const name = findDevice(system, address) ?? 'the interface'
  const message =
    candidates.length === 0
      ? `${name} has no IPv6 address, which a node of a dual-stack cluster needs`
      : `${name} has several IPv6 addresses: ${truncateList(candidates, 3)}`
  return addressError(subject, 'HOST_NO_IPV6_ADDRESS', message)
}

/** Smallest MTU that IPv6 allows, and the bytes that VXLAN over IPv6 adds to a packet. */
const minIpv6Mtu = 1280
const vxlanOverhead = 70

/** Checks what IPv6 traffic of pods and services needs, beside the address. */
export const checkIpv6Network: LinuxCheck = (subject) => {
  const { cluster, system, address } = subject
  const { network } = cluster.spec
  if (!isDualStack(network) || !isNode(subject)) return []
  const primary = system.addresses.find((one) => one.address === address)
  const overhead = network.flannel.backend === 'vxlan' ? vxlanOverhead : 0
  const needed = minIpv6Mtu + overhead
  const isTooSmall = network.plugin === 'flannel' && (primary?.mtu ?? needed) < needed
  return [
    ...(isTooSmall
      ? [
          hostError(
            subject,
            'HOST_MTU',
            `the MTU ${primary?.mtu} of ${primary?.interface} is too small for IPv6: pods need at least ${minIpv6Mtu}`,
            { hint: `set the MTU of ${primary?.interface} to at least ${needed}`, component: 'flanneld' },
          ),
        ]
      : []),
    ...(system.ipv6?.defaultInterface === undefined
      ? [
          // With IPv6 first, the service of the API has only an IPv6 address.
          (isIpv6First(network) ? hostError : hostWarning)(
            subject,
            'HOST_NO_IPV6_ROUTE',
            'the host has no IPv6 default route: its own programs cannot reach IPv6 addresses of services',
            { hint: 'ip -6 route add default via ROUTER', component: 'kube-proxy' },
          ),
        ]
      : []),
  ]
}
