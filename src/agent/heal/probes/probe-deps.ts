import type { Clock } from '../../host/clock.ts'
import type { Command } from '../../host/command.ts'
import type { Files } from '../../host/files.ts'
import type { Systemd } from '../../host/systemd.ts'

/** How full a file system is. */
export interface Space {
  /** From 0 to 1, of what a user who is not root may have. */
  readonly free: number
  /** The same of how many files there may be; 1 where there is no limit. */
  readonly freeFiles: number
}

export interface Disks {
  /** Writes a little, has it on the disk, and takes it away again; answers with how many milliseconds that took. */
  write(directory: string): Promise<number>
  space(directory: string): Promise<Space>
}

/** All that probes touch of a host. */
export interface ProbeEdges {
  readonly files: Pick<Files, 'read' | 'stat'>
  readonly systemd: Pick<Systemd, 'show'>
  readonly command: Command
  readonly clock: Pick<Clock, 'now'>
  /** Milliseconds, by a clock that nobody sets. */
  readonly monotonic: () => number
  readonly disks: Disks
  /** Networks of a Windows host; nothing while nobody answers, or where there are none. */
  readonly networks?: () => Promise<readonly { readonly name: string; readonly type: string }[] | undefined>
  /** The IPv4 addresses of an interface that is up. */
  readonly addresses: (name: string) => readonly string[]
}
