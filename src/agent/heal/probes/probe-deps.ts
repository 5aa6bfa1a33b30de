import type { Clock } from '../../host/clock.ts'
import type { RunCommand } from '../../host/command.ts'
import type { HostFiles } from '../../host/files.ts'
import type { Systemd } from '../../host/systemd.ts'

/** Free space of a file system. */
export interface DiskSpace {
  /** From 0 to 1, of what a user other than root may use. */
  readonly free: number
  /** Free inodes from 0 to 1; 1 if there is no limit. */
  readonly freeFiles: number
}

export interface Disks {
  /** Writes a small file, syncs it and removes it. Returns the duration in milliseconds. */
  write(directory: string): Promise<number>
  space(directory: string): Promise<DiskSpace>
}

/** Everything that probes use of a host. */
export interface ProbeDeps {
  readonly files: Pick<HostFiles, 'read' | 'stat'>
  readonly systemd: Pick<Systemd, 'show'>
  readonly command: RunCommand
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number
  readonly disks: Disks
  /** Networks of a Windows host; undefined while HNS does not respond. */
  readonly networks?: () => Promise<readonly { readonly name: string; readonly type: string }[] | undefined>
  /** The IPv4 addresses of an interface that is up. */
  readonly addresses: (name: string) => readonly string[]
}
