import type { WindowsOperations } from '../windows/operations/windows-operations.ts'
import type { WorkerHands } from '../windows/reconcile/worker-deps.ts'
import type { Cgroups } from './cgroups.ts'
import type { Clock } from './clock.ts'
import type { Fetch } from './downloader.ts'
import type { Files } from './files.ts'
import type { Images } from './images.ts'
import type { Kernel } from './kernel.ts'
import type { Layout, LinuxLayout, WindowsLayout } from './layout.ts'
import type { Mounts } from './mounts.ts'
import type { Packets } from './packets.ts'
import type { Processes } from './processes.ts'
import type { Release } from './running-release.ts'
import type { Services } from './service-manager.ts'
import type { Systemd } from './systemd.ts'
import type { Tar } from './tar.ts'
import type { Users } from './users.ts'

/** What the agent finds on any host: all that a plan can be applied with, but for who starts services. */
interface AnyHost {
  readonly layout: Layout
  readonly files: Files
  readonly users: Pick<Users, 'find'>
  readonly fetch: Fetch
  readonly tar: Tar
  readonly images: Images
  readonly clock: Clock
  readonly release: Release
}

/** A Linux host, as the agent on it meets it. */
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

/** A Windows host, as the agent on it meets it. */
export interface WindowsHost extends AnyHost {
  readonly os: 'windows'
  readonly layout: WindowsLayout
  readonly operations: WindowsOperations
  readonly services: Services
  /** What the services of a worker are brought up with, beside those operations. */
  readonly worker: WorkerHands
}

export type Host = LinuxHost | WindowsHost

/** Who starts services there, and says how they are. */
export function servicesOf(host: Host): Services {
  return host.os === 'linux' ? host.systemd : host.services
}
