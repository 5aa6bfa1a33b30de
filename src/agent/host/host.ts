import type { WindowsOperations } from '../windows/operations/windows-operations.ts'
import type { WorkerDeps } from '../windows/reconcile/worker-deps.ts'
import type { Cgroups } from './cgroups.ts'
import type { Clock } from './clock.ts'
import type { Downloader } from './downloader.ts'
import type { HostFiles } from './files.ts'
import type { Images } from './images.ts'
import type { Kernel } from './kernel.ts'
import type { Layout, LinuxLayout, WindowsLayout } from './layout.ts'
import type { Mounts } from './mounts.ts'
import type { Packets } from './packets.ts'
import type { Processes } from './processes.ts'
import type { RunningRelease } from './running-release.ts'
import type { HostServiceManager } from './service-manager.ts'
import type { Systemd } from './systemd.ts'
import type { Tar } from './tar.ts'
import type { Users } from './users.ts'

/** Interfaces that the agent needs on any host to apply a plan, except the service manager. */
interface AnyHost {
  readonly layout: Layout
  readonly files: HostFiles
  readonly users: Pick<Users, 'find'>
  readonly fetch: Downloader
  readonly tar: Tar
  readonly images: Images
  readonly clock: Clock
  readonly release: RunningRelease
}

/** Interfaces of the agent to a Linux host. */
export interface LinuxHost extends AnyHost {
  readonly os: 'linux'
  readonly layout: LinuxLayout
  readonly users: Users
  readonly kernel: Kernel
  readonly systemd: Systemd
  readonly processes: Processes
  readonly mounts: Mounts
  readonly packets: Packets
  readonly cgroups: Cgroups
}

/** Interfaces of the agent to a Windows host. */
export interface WindowsHost extends AnyHost {
  readonly os: 'windows'
  readonly layout: WindowsLayout
  readonly operations: WindowsOperations
  readonly services: HostServiceManager
  /** Interfaces that are needed in addition to `operations` to start the services of a worker. */
  readonly worker: WorkerDeps
}

export type Host = LinuxHost | WindowsHost

export function getServiceManager(host: Host): HostServiceManager {
  return host.os === 'linux' ? host.systemd : host.services
}
