import type { Cluster } from '../../spec/cluster.ts'
import { isNode } from '../context.ts'
import { hostError, hostWarning, isLoopback, type LinuxCheck, type SystemSubject } from './check.ts'

export const checkInitSystem: LinuxCheck = (subject) => {
  const { name } = subject.system.init
  if (name === 'systemd') return []
  const message = `the init system of the host is ${name}, not systemd`
  return [hostError(subject, 'HOST_NO_SYSTEMD', message, { hint: 'use a distribution with systemd' })]
}

/** Checks the kernel features that containers and their network need. */
export const checkKernelFeatures: LinuxCheck = (subject) => {
  if (!isNode(subject)) return []
  const { cluster, system } = subject
  const { plugin, flannel } = cluster.spec.network
  const needed = [
    { feature: 'overlay', use: 'container images', component: 'containerd' },
    ...(plugin === 'flannel' ? [{ feature: 'bridge', use: 'pods', component: 'flanneld' } as const] : []),
    ...(plugin === 'flannel' && flannel.backend === 'vxlan'
      ? [{ feature: 'vxlan', use: 'packets between nodes', component: 'flanneld' } as const]
      : []),
  ] as const
  return needed
    .filter(({ feature }) => !system.kernel[feature])
    .map(({ feature, use, component }) => {
      const message = `the kernel ${system.kernel.release} has no ${feature}, which ${use} need`
      const where = system.container ? ' on the machine that runs the container' : ''
      const hint = `modprobe ${feature}${where}; if that fails, install the kernel module package`
      return hostError(subject, 'HOST_KERNEL_FEATURE', message, { hint, component })
    })
}

/** Checks the cgroup version and the controllers that the kubelet needs. */
export const checkCgroups: LinuxCheck = (subject) => {
  if (!isNode(subject)) return []
  const { version, controllers } = subject.system.cgroup
  const missing = ['cpu', 'cpuset', 'memory', 'pids'].filter((name) => !controllers.includes(name))
  const component = 'kubelet'
  return [
    ...(version === 2
      ? []
      : [
          hostWarning(
            subject,
            'HOST_CGROUP_V1',
            'the host uses cgroup v1, which is deprecated in the kubelet',
            {
              hint: 'add systemd.unified_cgroup_hierarchy=1 to the kernel command line, then reboot',
              component,
            },
          ),
        ]),
    ...(missing.length === 0
      ? []
      : [
          hostError(
            subject,
            'HOST_CGROUP_CONTROLLER',
            `cgroup controllers are missing: ${missing.join(', ')}; the kubelet does not start without them`,
            {
              hint: `add ${missing.map((name) => `cgroup_enable=${name}`).join(' ')} to the kernel command line, then reboot`,
              component,
            },
          ),
        ]),
  ]
}

export const checkSwap: LinuxCheck = (subject) => {
  if (!isNode(subject) || !subject.system.swap) return []
  const message = 'swap is on: pods do not use it, and it makes memory metrics misleading'
  const hint = 'swapoff -a; then remove it from /etc/fstab'
  return [hostWarning(subject, 'HOST_SWAP', message, { hint, component: 'kubelet' })]
}

export const checkSelinux: LinuxCheck = (subject) => {
  if (!isNode(subject) || subject.system.selinux !== 'enforcing') return []
  const message = 'SELinux is enforcing: containers start only with the policy container-selinux'
  const hint = 'dnf install container-selinux'
  return [hostWarning(subject, 'HOST_SELINUX', message, { hint, component: 'containerd' })]
}

/** Checks the DNS resolver of the host, to which CoreDNS forwards names outside the cluster. */
export const checkResolver: LinuxCheck = (subject) => {
  if (!isNode(subject) || hasCustomResolvConf(subject) || hasForwardServers(subject.cluster)) return []
  const { file, servers } = subject.system.resolver
  const hint =
    'set DNS servers in spec.dns.forward, or a resolv.conf file in components.kubelet.config.resolvConf of the host'
  if (servers.length === 0) {
    const message = `${file} has no DNS server, so pods cannot resolve names outside the cluster`
    return [hostWarning(subject, 'HOST_NO_RESOLVER', message, { hint })]
  }
  if (!servers.every(isLoopback)) return []
  const message = `${file} has only loopback DNS servers (${servers.join(', ')}): CoreDNS would query itself`
  return [hostWarning(subject, 'HOST_RESOLVER_LOOP', message, { hint })]
}

/** True if cluster.yml lists upstream servers for CoreDNS. */
function hasForwardServers({ spec: { dns } }: Cluster): boolean {
  return dns !== 'none' && dns.forward !== undefined
}

function hasCustomResolvConf({ cluster, host }: SystemSubject): boolean {
  const kubeletSettings = [cluster.spec.components.kubelet, host.components?.kubelet]
  return kubeletSettings.some(
    (kubelet) =>
      kubelet?.config?.['resolvConf'] !== undefined || kubelet?.args?.['resolv-conf'] !== undefined,
  )
}
