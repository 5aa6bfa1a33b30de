import { isDualStack, usesKubeRouter } from '../../spec/network.ts'
import { isNode } from '../context.ts'
import { hostError, hostWarning, type LinuxCheck, type WindowsCheck } from './check.ts'
import { formatInstallCommand } from './packet-filter.ts'

const component = 'kube-router'
const path = 'spec.network.policy'

/** Checks what kube-router needs to enforce NetworkPolicy on a Linux node. */
export const checkNetworkPolicy: LinuxCheck = (subject) => {
  const { cluster, system } = subject
  if (!isNode(subject) || !usesKubeRouter(cluster.spec.network)) return []
  const missing = ['iptables', 'ipset'].filter((program) => !system.programs.includes(program))
  if (missing.length > 0) {
    const message = `kube-router enforces NetworkPolicy with ${missing.join(' and ')}, which the host does not have`
    const hint = `${formatInstallCommand(system, missing.join(' '))}, or ${path}: none`
    return [hostError(subject, 'HOST_NO_POLICY_PROGRAMS', message, { hint, component, path })]
  }
  const table = findForeignTable(subject)
  if (table !== undefined) {
    const message = `nft wrote rules into the table ${table} that iptables cannot read; kube-router would exit`
    const hint = `move these rules to a table of another name (nft list table ${table}), or ${path}: none`
    return [hostError(subject, 'HOST_FOREIGN_FILTER_TABLE', message, { hint, component, path })]
  }
  if (!system.kernel.bridgeNetfilter) {
    const message = 'without br_netfilter, packets between pods of this node bypass NetworkPolicy'
    const where = system.container ? ' on the machine that runs the container' : ''
    const hint = `modprobe br_netfilter${where}, or ${path}: none`
    return [hostError(subject, 'HOST_NO_BRIDGE_NETFILTER', message, { hint, component, path })]
  }
  return []
}

/** Finds a table of nft in which kube-router could not write its rules. It filters IPv6 only with dual-stack. */
function findForeignTable({ cluster, system }: Parameters<LinuxCheck>[0]): string | undefined {
  if (system.foreignFilterTable === true) return 'ip filter'
  const hasForeign = isDualStack(cluster.spec.network) && system.ipv6?.foreignFilterTable === true
  return hasForeign ? 'ip6 filter' : undefined
}

/** Reports that no program enforces NetworkPolicy for pods of a Windows node. */
export const checkWindowsNetworkPolicy: WindowsCheck = (subject) => {
  const { network } = subject.cluster.spec
  if (!usesKubeRouter(network)) return []
  const message = 'NetworkPolicy is not enforced for pods on Windows hosts'
  return [
    hostWarning(subject, 'HOST_NO_WINDOWS_POLICY', message, {
      hint: 'use the firewall of Windows, or keep pods that need policies on Linux hosts',
      path,
    }),
  ]
}
