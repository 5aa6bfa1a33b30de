import type { Finding } from '../../contract/finding.ts'
import { type AddressSpan, parseAddressSpan, rangesOverlap, toRange } from '../../spec/cidr.ts'
import { isNode } from '../context.ts'
import { hostError, hostWarning, type LinuxCheck } from './check.ts'
import { clusterInterfaces } from './networks.ts'

const path = 'spec.loadBalancer.addresses'
const component = 'metallb-speaker'

/**
 * Checks the address pool of MetalLB on a node: the host must not have one of the addresses, and in layer 2
 * they must be in a network of the host.
 */
export const checkAddressPool: LinuxCheck = (subject) => {
  const { loadBalancer } = subject.cluster.spec
  if (loadBalancer === 'none' || !isNode(subject)) return []
  const hostAddresses = subject.system.addresses
    .filter((one) => !clusterInterfaces.test(one.interface))
    .map((one) => ({
      ...{ where: one.interface, address: one.address, own: toRange(one.address) },
      network: toRange(`${one.address}/${one.prefix}`),
    }))
  return loadBalancer.addresses.flatMap((text): Finding[] => {
    const span = parseAddressSpan(text)
    if (span === undefined) return []
    const taken = hostAddresses
      .filter(({ own }) => rangesOverlap(own, span))
      .map(({ where, address }) => {
        const message = `${where} has the address ${address}, which is in the pool of load balancers (${text})`
        const hint = `remove ${address} from ${path}`
        return hostError(subject, 'HOST_POOL_TAKEN', message, { hint, component, path })
      })
    const isReachable = hostAddresses.some(({ network }) => contains(network, span))
    if (taken.length > 0 || isReachable || loadBalancer.bgp !== undefined) return taken
    const message = `${text} is not in a network of the host: other machines may not find Services there by ARP`
    const hint = 'use addresses of the network of the hosts, route them to the hosts, or set bgp'
    return [hostWarning(subject, 'HOST_POOL_OUTSIDE', message, { hint, component, path })]
  })
}

function contains(outer: AddressSpan, inner: AddressSpan): boolean {
  return outer.family === inner.family && outer.first <= inner.first && inner.last <= outer.last
}
