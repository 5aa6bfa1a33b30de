import { win32 } from 'node:path'
import { linuxStateDirectory, uploadDirectory, windowsUploadDirectory } from '../../contract/host-paths.ts'

/** Paths that the agent itself chooses. Paths of components are in the plan. */
export interface Layout {
  /** Directory of the agent's state. */
  readonly state: string
  /** Directory of etcd snapshots that the agent takes without an operator. */
  readonly snapshots: string
  /** Directory of files that were uploaded for later runs. */
  readonly uploads: string
  /** Directories that do not belong to hyperkube but may contain unfinished files of the agent. */
  readonly temporaryFileDirectories: readonly string[]
  /** Link to the directory of the current hyperkube release; undefined on Windows. */
  readonly currentLink: string | undefined
  /** Directories that belong to hyperkube alone. Entries that no component owns are removed. */
  readonly exclusiveDirectories: readonly string[]
  /** Directories that hyperkube created and in which components may write. */
  readonly ownDirectories: readonly string[]
  /** Socket of the container runtime; undefined if it is not a file. */
  readonly runtimeSocket: string | undefined
}

export interface LinuxLayout extends Layout {
  /** Directory for unit files of the administrator. */
  readonly units: string
  readonly modules: string
  readonly sysctls: string
  readonly currentLink: string
  /** Directory of the agent's socket. */
  readonly runtime: string
}

export const linuxLayout: LinuxLayout = {
  state: linuxStateDirectory,
  snapshots: '/var/lib/hyperkube/snapshots',
  uploads: uploadDirectory,
  temporaryFileDirectories: ['/etc/systemd/system', '/etc/modules-load.d', '/etc/sysctl.d'],
  units: '/etc/systemd/system',
  modules: '/etc/modules-load.d/hyperkube.conf',
  sysctls: '/etc/sysctl.d/90-hyperkube.conf',
  currentLink: '/opt/hyperkube/current',
  exclusiveDirectories: ['/etc/hyperkube', '/opt/hyperkube'],
  ownDirectories: ['/etc/hyperkube', '/opt/hyperkube', '/var/lib/hyperkube', '/var/log/hyperkube'],
  runtimeSocket: '/run/containerd/containerd.sock',
  runtime: '/run/hyperkube',
}

export interface WindowsLayout extends Layout {
  /**
   * Directory that contains everything that hyperkube installs. It may have existed before the installation.
   */
  readonly base: string
  readonly currentLink: undefined
  readonly settings: string
  readonly logs: string
  /** Directory in which the CNI plugin host-local records the assigned pod addresses of this host. */
  readonly addresses: string
  /** File with the source VIP, the address that the agent has reserved for kube-proxy. */
  readonly sourceVip: string
}

/** Returns the paths below the base directory from cluster.yml. Plans for Windows use the same paths. */
export function windowsLayout(base: string): WindowsLayout {
  const toPath = (...parts: readonly string[]): string => win32.join(base, ...parts)
  return {
    base,
    state: toPath('state', 'agent'),
    snapshots: toPath('state', 'snapshots'),
    uploads: windowsUploadDirectory(base),
    temporaryFileDirectories: [],
    currentLink: undefined,
    exclusiveDirectories: [toPath('settings'), toPath('programs')],
    ownDirectories: [toPath('settings'), toPath('programs'), toPath('state'), toPath('logs')],
    runtimeSocket: undefined,
    settings: toPath('settings'),
    logs: toPath('logs'),
    addresses: toPath('state', 'addresses'),
    sourceVip: toPath('state', 'kube-proxy', 'source-vip.env'),
  }
}
