import { systemClock } from './clock.ts'
import { runHostCommand } from './command.ts'
import { createCtrImages } from './ctr-images.ts'
import type { LinuxHost } from './host.ts'
import { createHttpDownloader } from './http-downloader.ts'
import { linuxLayout } from './layout.ts'
import { createLinuxCgroups } from './linux-cgroups.ts'
import { createLinuxFiles } from './linux-files.ts'
import { createLinuxKernel } from './linux-kernel.ts'
import { createLinuxMounts } from './linux-mounts.ts'
import { createLinuxPackets } from './linux-packets.ts'
import { createLinuxProcesses } from './linux-processes.ts'
import { createLinuxUsers } from './linux-users.ts'
import { createPathMapper } from './local-path.ts'
import { createRunningRelease } from './running-release.ts'
import { createSystemctl } from './systemctl.ts'
import { createSystemTar } from './system-tar.ts'

/**
 * Creates the interfaces to the machine on which this process runs; needs root. `version` is the version of
 * this program.
 */
export function createLinuxHost(version: string): LinuxHost {
  const toLocalPath = createPathMapper('/')
  return {
    os: 'linux',
    layout: linuxLayout,
    files: createLinuxFiles(toLocalPath),
    users: createLinuxUsers(runHostCommand),
    kernel: createLinuxKernel(runHostCommand),
    systemd: createSystemctl(runHostCommand),
    fetch: createHttpDownloader(toLocalPath, systemClock),
    tar: createSystemTar(toLocalPath, runHostCommand),
    images: createCtrImages(toLocalPath, runHostCommand),
    processes: createLinuxProcesses(),
    mounts: createLinuxMounts(runHostCommand),
    packets: createLinuxPackets(runHostCommand),
    cgroups: createLinuxCgroups(),
    clock: systemClock,
    release: createRunningRelease(version, toLocalPath),
  }
}
