import { systemClock } from './clock.ts'
import { hostCommand } from './command.ts'
import { ctrImages } from './ctr-images.ts'
import type { LinuxHost } from './host.ts'
import { httpFetch } from './http-downloader.ts'
import { linuxLayout } from './layout.ts'
import { linuxCgroups } from './linux-cgroups.ts'
import { linuxFiles } from './linux-files.ts'
import { linuxKernel } from './linux-kernel.ts'
import { linuxMounts } from './linux-mounts.ts'
import { linuxPackets } from './linux-packets.ts'
import { linuxProcesses } from './linux-processes.ts'
import { linuxUsers } from './linux-users.ts'
import { placeBelow } from './local-path.ts'
import { runningRelease } from './running-release.ts'
import { systemctl } from './systemctl.ts'
import { systemTar } from './system-tar.ts'

/** The machine that we run on, for root. `version` is that of the program that runs. */
export function linuxHost(version: string): LinuxHost {
  const place = placeBelow('/')
  return {
    os: 'linux',
    layout: linuxLayout,
    files: linuxFiles(place),
    users: linuxUsers(hostCommand),
    kernel: linuxKernel(hostCommand),
    systemd: systemctl(hostCommand),
    fetch: httpFetch(place, systemClock),
    tar: systemTar(place, hostCommand),
    images: ctrImages(place, hostCommand),
    processes: linuxProcesses(),
    mounts: linuxMounts(hostCommand),
    packets: linuxPackets(hostCommand),
    cgroups: linuxCgroups(),
    clock: systemClock,
    release: runningRelease(version, place),
  }
}
