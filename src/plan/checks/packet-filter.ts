import type { Finding } from '../../contract/finding.ts'
import { usesKubeProxy } from '../../spec/network.ts'
import { isControlPlane, isNode, type LinuxSystemFacts } from '../context.ts'
import {
  firstNftablesKernel,
  hasIptables,
  hasNftables,
  isOldForNftables,
  selectProxyMode,
} from '../linux/kube-proxy.ts'
import { hostError, hostWarning, type LinuxCheck, type SystemSubject } from './check.ts'
import { listRequiredPorts, type RequiredPort } from './ports.ts'

const families: readonly { readonly manager: string; readonly distributions: RegExp }[] = [
  { manager: 'apt-get', distributions: /^(debian|ubuntu|raspbian|linuxmint)$/ },
  { manager: 'dnf', distributions: /^(rhel|centos|fedora|rocky|almalinux|ol|amzn)$/ },
  { manager: 'zypper', distributions: /^(sles|opensuse.*)$/ },
]

/** Returns the command that installs a package on this distribution. */
export function formatInstallCommand({ distribution }: LinuxSystemFacts, name: string): string {
  const family = families.find(({ distributions }) => distributions.test(distribution.id))
  return family === undefined ? `install ${name}` : `${family.manager} install ${name}`
}

/** Checks that the host has nftables or iptables, which kube-proxy and flannel need. */
export const checkPacketFilter: LinuxCheck = (subject) => {
  // Without kube-proxy there is no flannel either.
  if (!isNode(subject) || !usesKubeProxy(subject.cluster.spec.network)) return []
  const { system } = subject
  if (!hasNftables(system) && !hasIptables(system)) {
    const message = 'the host has neither nftables (with nft) nor iptables'
    const hint = system.kernel.nftables
      ? formatInstallCommand(system, 'nftables')
      : formatInstallCommand(system, 'iptables')
    return [hostError(subject, 'HOST_NO_PACKET_FILTER', message, { hint, component: 'kube-proxy' })]
  }
  return [...checkDockerForwarding(subject), ...checkProxyMode(subject)]
}

/**
 * Reports a host with Docker but without iptables. Docker blocks forwarding with iptables, so flannel needs
 * an iptables rule to allow it again.
 */
const checkDockerForwarding: LinuxCheck = (subject) => {
  const { system, cluster } = subject
  const concerns = system.firewalls.includes('docker') && cluster.spec.network.plugin === 'flannel'
  if (!concerns || system.programs.includes('iptables')) return []
  const message =
    'Docker blocks forwarding with iptables; without the iptables command flannel cannot allow it'
  const hint = formatInstallCommand(system, 'iptables')
  return [hostError(subject, 'HOST_NO_PACKET_FILTER', message, { hint, component: 'flanneld' })]
}

const checkProxyMode: LinuxCheck = (subject) => {
  const { system } = subject
  const desiredMode = readProxyMode(subject)
  const mode = desiredMode === 'auto' ? selectProxyMode(system) : desiredMode
  const more = { path: 'spec.components.kubeProxy.mode', component: 'kube-proxy' }
  if (mode === 'nftables' && !hasNftables(system)) {
    const hint = `${formatInstallCommand(system, 'nftables')}, or mode: auto`
    return [hostError(subject, 'HOST_PROXY_MODE', missingModeMessage(mode), { hint, ...more })]
  }
  if (mode === 'iptables' && !hasIptables(system)) {
    const hint = `${formatInstallCommand(system, 'iptables')}, or mode: auto`
    return [hostError(subject, 'HOST_PROXY_MODE', missingModeMessage(mode), { hint, ...more })]
  }
  if (mode === 'nftables' && isOldForNftables(system)) {
    const message = `the nftables mode of kube-proxy needs kernel ${firstNftablesKernel}; the host has ${system.kernel.release}`
    return [hostError(subject, 'HOST_PROXY_MODE', message, { hint: 'mode: iptables', ...more })]
  }
  return []
}

/** Reads the configured mode of kube-proxy. `config.mode` overrides the `mode` setting. */
function readProxyMode({ cluster, host }: SystemSubject): unknown {
  const { mode, config } = cluster.spec.components.kubeProxy
  return host.components?.kubeProxy?.config?.['mode'] ?? config['mode'] ?? mode
}

function missingModeMessage(mode: string): string {
  return `cluster.yml sets kube-proxy to ${mode}, but the host has no ${mode}`
}

/** Warns about active firewall managers. The hint contains the commands that open the required ports. */
export const checkFirewall: LinuxCheck = (subject) => {
  const ports = listRequiredPorts(subject).filter(({ from }) => from === 'hosts')
  const pods = isNode(subject) ? subject.cluster.spec.network.pods : []
  return subject.system.firewalls.flatMap((name) => {
    if (name === 'docker') return []
    const command = [firewallCommands[name](ports, pods), ...formatVrrpCommands(subject, name)].join(' && ')
    return [activeFirewall(subject, name, command)]
  })
}

/**
 * Formats the commands that allow VRRP between control planes. ufw has no name for this protocol in all
 * versions, so it gets a rule for each peer.
 */
function formatVrrpCommands(subject: SystemSubject, name: 'firewalld' | 'ufw'): string[] {
  const { cluster, topology, address } = subject
  const peers = topology.controlPlanes.filter((peer) => peer.address !== address)
  if (cluster.spec.api.virtualIP === undefined || !isControlPlane(subject) || peers.length === 0) return []
  return name === 'ufw'
    ? peers.map((peer) => `ufw allow from ${peer.address}`)
    : ['firewall-cmd --permanent --add-protocol=vrrp', 'firewall-cmd --reload']
}

type FirewallCommand = (ports: readonly RequiredPort[], pods: readonly string[]) => string

/** Commands for each firewall manager that allow traffic to these ports and traffic of pods. */
export const firewallCommands: Readonly<Record<'firewalld' | 'ufw', FirewallCommand>> = {
  firewalld: (ports, pods) =>
    [
      [
        'firewall-cmd --permanent',
        ...ports.map(({ port, protocol }) => `--add-port=${port}/${protocol}`),
      ].join(' '),
      // Port rules allow only traffic to the host itself. Pod traffic is forwarded, so it needs its own rule.
      ...pods.map((network) => `firewall-cmd --permanent --zone=trusted --add-source=${network}`),
      'firewall-cmd --reload',
    ].join(' && '),
  ufw: (ports, pods) =>
    [
      ...ports.map(({ port, protocol }) => `ufw allow ${port}/${protocol}`),
      ...pods.flatMap((network) => [
        `ufw allow from ${network}`,
        `ufw route allow from ${network}`,
        `ufw route allow to ${network}`,
      ]),
    ].join(' && '),
}

function activeFirewall(subject: SystemSubject, name: string, hint: string): Finding {
  const message = `the firewall ${name} is active and must allow the other hosts`
  return hostWarning(subject, 'HOST_FIREWALL', message, { hint })
}
