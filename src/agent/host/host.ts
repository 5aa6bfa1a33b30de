import type { Cgroups } from './cgroups.ts'
import type { Clock } from './clock.ts'
import type { Fetch } from './fetch.ts'
import type { Files } from './files.ts'
import type { Images } from './images.ts'
import type { Kernel } from './kernel.ts'
import type { Layout } from './layout.ts'
import type { Mounts } from './mounts.ts'
import type { Packets } from './packets.ts'
import type { Processes } from './processes.ts'
import type { Release } from './release.ts'
import type { Systemd } from './systemd.ts'
import type { Tar } from './tar.ts'
import type { Users } from './users.ts'

/** A Linux host, as the agent on it meets it. */
export interface LinuxHost {
  readonly layout: Layout
  readonly files: Files
  readonly users: Users
  readonly kernel: Kernel
  readonly systemd: Systemd
  readonly fetch: Fetch
  readonly tar: Tar
  readonly images: Images
  readonly processes: Processes
  readonly mounts: Mounts
  readonly packets: Packets
  readonly cgroups: Cgroups
  readonly clock: Clock
  readonly release: Release
}
