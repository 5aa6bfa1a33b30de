import { win32 } from 'node:path'
import { deliveries, windowsDeliveries } from '../../contract/uploads.ts'

/** Where things are that the agent itself decides. What components have is in their plan. */
export interface Layout {
  /** What the agent remembers. */
  readonly state: string
  /** What is kept of the host's own member of etcd, where it has one, while no operator is near. */
  readonly snapshots: string
  /** What was brought to the host for the next runs. */
  readonly delivered: string
  /** Directories beside those of components where unfinished files of ours may lie. */
  readonly swept: readonly string[]
  /** Which hyperkube the host runs now: a link to the directory of its version, where there is such a link. */
  readonly current: string | undefined
  /** In these everything is ours: what no component has goes. */
  readonly exclusive: readonly string[]
  /** In these everything is ours, and may have been written by a component. */
  readonly own: readonly string[]
  /** Where the container runtime listens once it runs, where that is a file. */
  readonly runtimeSocket: string | undefined
}

export interface LinuxLayout extends Layout {
  /** Units of systemd that the administrator of a host gives it. */
  readonly units: string
  readonly modules: string
  readonly sysctls: string
  readonly current: string
  /** Where the agent listens. */
  readonly runtime: string
}

export const linuxLayout: LinuxLayout = {
  state: '/var/lib/hyperkube/agent',
  snapshots: '/var/lib/hyperkube/snapshots',
  delivered: deliveries,
  swept: ['/etc/systemd/system', '/etc/modules-load.d', '/etc/sysctl.d'],
  units: '/etc/systemd/system',
  modules: '/etc/modules-load.d/hyperkube.conf',
  sysctls: '/etc/sysctl.d/90-hyperkube.conf',
  current: '/opt/hyperkube/current',
  exclusive: ['/etc/hyperkube', '/opt/hyperkube'],
  own: ['/etc/hyperkube', '/opt/hyperkube', '/var/lib/hyperkube', '/var/log/hyperkube'],
  runtimeSocket: '/run/containerd/containerd.sock',
  runtime: '/run/hyperkube',
}

export interface WindowsLayout extends Layout {
  /** All that is ours is below it; it may have been there before us. */
  readonly base: string
  readonly current: undefined
  readonly settings: string
  readonly logs: string
  /** Which addresses of the host's part of the pods' network are taken, and by whom: host-local's books. */
  readonly addresses: string
  /** What the agent writes when it has taken one of them for kube-proxy. */
  readonly sourceVip: string
}

/** As plans for Windows have it, below the directory that cluster.yml names. */
export function windowsLayout(base: string): WindowsLayout {
  const at = (...parts: readonly string[]): string => win32.join(base, ...parts)
  return {
    base,
    state: at('state', 'agent'),
    snapshots: at('state', 'snapshots'),
    delivered: windowsDeliveries(base),
    swept: [],
    current: undefined,
    exclusive: [at('settings'), at('programs')],
    own: [at('settings'), at('programs'), at('state'), at('logs')],
    runtimeSocket: undefined,
    settings: at('settings'),
    logs: at('logs'),
    addresses: at('state', 'addresses'),
    sourceVip: at('state', 'kube-proxy', 'source-vip.env'),
  }
}
