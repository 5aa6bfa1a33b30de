import { win32 } from 'node:path'
import { uploadDirectory, windowsUploadDirectory } from '../../contract/uploads.ts'

/** Paths that the agent itself chooses. Paths of components are in their plan. */
export interface Layout {
  /** State of the agent. */
  readonly state: string
  /** Snapshots of the local etcd member that the agent takes without an operator. */
  readonly snapshots: string
  /** Files that were uploaded for the next runs. */
  readonly uploads: string
  /** Directories outside of components that may contain unfinished files of the agent. */
  readonly temporaryFileDirectories: readonly string[]
  /** Link to the directory of the running hyperkube version, on systems that use one. */
  readonly currentLink: string | undefined
  /** Directories that belong to hyperkube alone: entries without a component are removed. */
  readonly exclusiveDirectories: readonly string[]
  /** Directories that belong to hyperkube, and in which components may write. */
  readonly ownDirectories: readonly string[]
  /** Socket of the container runtime, on systems where that is a file. */
  readonly runtimeSocket: string | undefined
}

export interface LinuxLayout extends Layout {
  /** Administrator's directory of systemd units. */
  readonly units: string
  readonly modules: string
  readonly sysctls: string
  readonly currentLink: string
  /** Directory of the agent's socket. */
  readonly runtime: string
}

export const linuxLayout: LinuxLayout = {
  state: '/var/lib/hyperkube/agent',
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
  /** Contains everything hyperkube installs. The directory may have existed before. */
  readonly base: string
  readonly currentLink: undefined
  readonly settings: string
  readonly logs: string
  /** host-local's records of assigned addresses in the pod subnet of this host. */
  readonly addresses: string
  /** File in which the agent stores the address it has reserved for kube-proxy. */
  readonly sourceVip: string
}

/** Same paths as in Windows plans, below the base directory from cluster.yml. */
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
