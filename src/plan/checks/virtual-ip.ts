import type { Finding } from '../../contract/finding.ts'
import { isControlPlane } from '../context.ts'
import {
  keepalivedComponent as component,
  keepalivedPrograms,
  toRouterId,
} from '../linux/hyperkube-keepalived.ts'
import { hostError, hostWarning, type LinuxCheck, type SystemCheck, toIpv4Range } from './check.ts'
import { formatInstallCommand } from './packet-filter.ts'

const path = 'spec.api.virtualIP'
const details = { component, path }

/** Checks what keepalived needs to move the virtual IP to this control plane. */
export const checkKeepalived: LinuxCheck = (subject) => {
  const { cluster, system } = subject
  const { virtualIP } = cluster.spec.api
  if (virtualIP === undefined || !isControlPlane(subject)) return []
  const missing = keepalivedPrograms.filter((program) => !system.programs.includes(program))
  if (missing.length > 0) {
    const message = `the virtual IP needs ${missing.join(' and ')}, which the host does not have`
    const hint = `${formatInstallCommand(system, missing.join(' '))}, or remove ${path}`
    return [hostError(subject, 'HOST_NO_KEEPALIVED', message, { hint, ...details })]
  }
  const foreign = system.foreignServices.includes('keepalived.service')
    ? [
        hostWarning(subject, 'HOST_FOREIGN_KEEPALIVED', 'another keepalived is active on the host', {
          hint: `it must not use ${virtualIP} or virtual_router_id ${toRouterId(virtualIP)}; if nothing needs it: systemctl disable --now keepalived`,
          ...details,
        }),
      ]
    : []
  return [...foreign, ...checkSubnet(subject, virtualIP)]
}

/** Reports a virtual IP that clients in the subnet of the host could not reach on this host. */
function checkSubnet(subject: Parameters<LinuxCheck>[0], virtualIP: string): Finding[] {
  const own = subject.system.addresses.find(({ address }) => address === subject.address)
  // Without such an interface the host has another finding already.
  if (own === undefined) return []
  const subnet = toIpv4Range(own.address, own.prefix)
  const { first } = toIpv4Range(virtualIP, 32)
  const isUsable = own.prefix >= 31 || (first !== subnet.first && first !== subnet.last)
  if (first >= subnet.first && first <= subnet.last && isUsable) return []
  const message = `${virtualIP} is no address of the subnet ${own.address}/${own.prefix} of ${own.interface}`
  const hint = 'use an unused address of the subnet that all control planes share, or a load balancer'
  return [hostError(subject, 'HOST_VIRTUAL_IP_SUBNET', message, { hint, ...details })]
}

/**
 * Reports a host that has the virtual IP for another reason. keepalived adds it only to control planes, and
 * with the prefix length 32.
 */
export const checkVirtualIpHolder: SystemCheck = (subject) => {
  const { virtualIP } = subject.cluster.spec.api
  const held = subject.system.addresses.find(({ address }) => address === virtualIP)
  if (held === undefined || (isControlPlane(subject) && held.prefix === 32)) return []
  const message = `${held.interface} has the virtual IP ${held.address}/${held.prefix}, which hyperkube did not add`
  const hint = `use another address, or on the host: ip address delete ${held.address}/${held.prefix} dev ${held.interface}`
  return [hostError(subject, 'HOST_HAS_VIRTUAL_IP', message, { hint, ...details })]
}
