import type { Cluster } from '../../spec/cluster.ts'
import { isNode } from '../context.ts'
import { hostError, hostWarning, isLoopback, type LinuxCheck, type SystemSubject } from './check.ts'

export const checkInitSystem: LinuxCheck = (subject) => {
  const { name } = subject.system.init
  if (name === 'systemd') return []
  const message = `${name} starts the services of the host, not systemd`
  return [hostError(subject, 'HOST_NO_SYSTEMD', message, { hint: 'use a distribution with systemd' })]
}

/** Checks the kernel features that containers and their network need. */
export const checkKernelFeatures: LinuxCheck = (subject) => {
  if (!isNode(subject)) return []
  const { cluster, system } = subject
  const { plugin, flannel } = cluster.spec.network
  const needed = [
    { feature: 'overlay', use: 'layers of images', component: 'containerd' },
    ...(plugin === 'flannel'
      ? [{ feature: 'bridge', use: 'the pods of a host', component: 'flanneld' } as const]
      : []),
    ...(plugin === 'flannel' && flannel.backend === 'vxlan'
      ? [{ feature: 'vxlan', use: 'packets between hosts', component: 'flanneld' } as const]
      : []),
  ] as const
  return needed
    .filter(({ feature }) => !system.kernel[feature])
    .map(({ feature, use, component }) => {
      const message = `the kernel ${system.kernel.release} has no ${feature}, which ${use} need`
      const where = system.container ? ' on the machine around the container' : ''
      const hint = `modprobe ${feature}${where}; if that fails, install the modules of the kernel`
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
            'the host has version 1 of cgroups, which the kubelet bears only for now',
            {
              hint: 'systemd.unified_cgroup_hierarchy=1 on the command line of the kernel, then reboot',
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
            `the cgroups of the host lack ${missing.join(', ')}, without which the kubelet does not start`,
            {
              hint: `${missing.map((name) => `cgroup_enable=${name}`).join(' ')} on the command line of the kernel, then reboot`,
              component,
            },
          ),
        ]),
  ]
}

export const checkSwap: LinuxCheck = (subject) => {
  if (!isNode(subject) || !subject.system.swap) return []
  const message = 'the host has swap: pods get none of it, and the figures of its memory mislead'
  const hint = 'swapoff -a, and take it out of /etc/fstab'
  return [hostWarning(subject, 'HOST_SWAP', message, { hint, component: 'kubelet' })]
}

export const checkSelinux: LinuxCheck = (subject) => {
  if (!isNode(subject) || subject.system.selinux !== 'enforcing') return []
  const message = 'SELinux is enforcing: containers start only with the policy that is made for them'
  const hint = 'dnf install container-selinux'
  return [hostWarning(subject, 'HOST_SELINUX', message, { hint, component: 'containerd' })]
}

/** Checks the DNS resolver of the host, to which CoreDNS forwards names outside the cluster. */
export const checkResolver: LinuxCheck = (subject) => {
  if (!isNode(subject) || hasCustomResolvConf(subject) || hasForwardServers(subject.cluster)) return []
  const { file, servers } = subject.system.resolver
  const hint =
    'name servers in spec.dns.forward; or in a file of your own, and its path in kubelet.config.resolvConf of the host'
  if (servers.length === 0) {
    const message = `${file} names no server, so pods find no name outside the cluster`
    return [hostWarning(subject, 'HOST_NO_RESOLVER', message, { hint })]
  }
  if (!servers.every(isLoopback)) return []
  const message = `${file} names only ${servers.join(', ')}: CoreDNS would ask itself`
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
