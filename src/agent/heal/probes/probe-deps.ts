import type { Clock } from '../../host/clock.ts'
import type { RunCommand } from '../../host/command.ts'
import type { HostFiles } from '../../host/files.ts'
import type { Systemd } from '../../host/systemd.ts'

/** Free space of a file system. */
export interface DiskSpace {
  /** Free share of the space that users other than root may use, from 0 to 1. */
  readonly free: number
  /** Free share of the inodes, from 0 to 1; 1 if the file system has no inode limit. */
  readonly freeFiles: number
}

export interface Disks {
  /** Writes a small file, syncs it and removes it. Returns the duration in milliseconds. */
  write(directory: string): Promise<number>
  space(directory: string): Promise<DiskSpace>
}

/** Interfaces that probes use to read a host. */
export interface ProbeDeps {
  readonly files: Pick<HostFiles, 'read' | 'stat'>
  readonly systemd: Pick<Systemd, 'show'>
  readonly command: RunCommand
  readonly clock: Pick<Clock, 'now'>
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly monotonic: () => number
  readonly disks: Disks
  /** Returns the HNS networks of a Windows host, or undefined while HNS does not respond. */
  readonly networks?: () => Promise<readonly { readonly name: string; readonly type: string }[] | undefined>
  /** Returns the IPv4 addresses of an interface. The list is empty if the interface is down. */
  readonly addresses: (name: string) => readonly string[]
}
