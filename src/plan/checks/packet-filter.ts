import {
  bestProxyMode,
  firstNftablesKernel,
  hasIptables,
  hasNftables,
  isOldForNftables,
} from '../linux/packet-filter.ts'
import { isNode } from '../context.ts'
import { error, type LinuxCheck, type SystemSubject } from './check.ts'
import { install } from './packages.ts'

/** Whether services and the network of pods have the means to rewrite packets. */
export const packetFilter: LinuxCheck = (subject) => {
  if (!isNode(subject)) return []
  const { system } = subject
  if (!hasNftables(system) && !hasIptables(system)) {
    const message = 'the host has neither nftables with the program nft, nor iptables with its program'
    const hint = system.kernel.nftables ? install(system, 'nftables') : install(system, 'iptables')
    return [error(subject, 'HOST_NO_PACKET_FILTER', message, { hint, component: 'kube-proxy' })]
  }
  return [...besideDocker(subject), ...proxyMode(subject)]
}

/** Docker forbids all forwarding by iptables; only a rule of iptables allows it again. */
const besideDocker: LinuxCheck = (subject) => {
  const { system, cluster } = subject
  const concerns = system.firewalls.includes('docker') && cluster.spec.network.plugin === 'flannel'
  if (!concerns || system.programs.includes('iptables')) return []
  const message = 'Docker forbids forwarding by iptables, and without iptables flannel cannot allow it again'
  const hint = install(system, 'iptables')
  return [error(subject, 'HOST_NO_PACKET_FILTER', message, { hint, component: 'flanneld' })]
}

const proxyMode: LinuxCheck = (subject) => {
  const { system } = subject
  const wish = proxyWish(subject)
  const mode = wish === 'auto' ? bestProxyMode(system) : wish
  const more = { path: 'spec.components.kubeProxy.mode', component: 'kube-proxy' }
  if (mode === 'nftables' && !hasNftables(system)) {
    const hint = `${install(system, 'nftables')}, or mode: auto`
    return [error(subject, 'HOST_PROXY_MODE', lacks(mode), { hint, ...more })]
  }
  if (mode === 'iptables' && !hasIptables(system)) {
    const hint = `${install(system, 'iptables')}, or mode: auto`
    return [error(subject, 'HOST_PROXY_MODE', lacks(mode), { hint, ...more })]
  }
  if (mode === 'nftables' && isOldForNftables(system)) {
    const message = `kube-proxy uses nftables from kernel ${firstNftablesKernel} on; this one is ${system.kernel.release}`
    return [error(subject, 'HOST_PROXY_MODE', message, { hint: 'mode: iptables', ...more })]
  }
  return []
}

/** A person's own piece of configuration goes over the setting. */
function proxyWish({ cluster, host }: SystemSubject): unknown {
  const { mode, config } = cluster.spec.components.kubeProxy
  return host.components?.kubeProxy?.config?.['mode'] ?? config['mode'] ?? mode
}

function lacks(mode: string): string {
  return `kube-proxy shall use ${mode}, which the host lacks`
}
