import { open, rm, statfs } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../host/clock.ts'
import { type RunCommand, runHostCommand } from '../../host/command.ts'
import type { HostFiles } from '../../host/files.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { ServiceManager } from '../../host/service-manager.ts'

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
  readonly files: Pick<HostFiles, 'read' | 'stat' | 'list'>
  readonly services: Pick<ServiceManager, 'show'>
  readonly command: RunCommand
  readonly clock: Pick<Clock, 'now'>
  /** Returns the time of a monotonic clock in milliseconds. */
  readonly monotonic: () => number
  readonly disks: Disks
  /** Returns the HNS networks of a Windows host, or undefined while HNS does not respond. */
  readonly networks?: () => Promise<readonly { readonly name: string; readonly type: string }[] | undefined>
  /** Returns the addresses of an interface. The list is empty if the interface is down. */
  readonly addresses: (name: string) => readonly string[]
}

/**
 * Name of the file that a disk probe writes. The name is fixed, so the next probe overwrites and removes a
 * file that a power failure left.
 */
const probeFileName = '.hyperkube-probe'

export function createProbeDeps({
  files,
  services,
  clock,
}: Pick<LinuxHost, 'files' | 'services' | 'clock'>): ProbeDeps {
  return {
    files,
    services,
    clock,
    monotonic: () => performance.now(),
    command: runHostCommand,
    disks: hostDisks,
    addresses,
  }
}

/**
 * Returns the addresses of an interface, except link-local ones, which every interface has. Node.js reads them,
 * because starting a program would cost more than all other probes.
 */
function addresses(name: string): readonly string[] {
  return (networkInterfaces()[name] ?? []).flatMap(({ family, address, ...rest }) =>
    family === 'IPv4' || ('scopeid' in rest && rest.scopeid === 0) ? [address] : [],
  )
}

export const hostDisks: Disks = {
  async write(directory) {
    const path = join(directory, probeFileName)
    try {
      const began = performance.now()
      const file = await open(path, 'w', 0o600)
      try {
        await file.write(Buffer.alloc(4096))
        await file.datasync()
      } finally {
        await file.close()
      }
      return performance.now() - began
    } finally {
      await rm(path, { force: true })
    }
  },
  async space(directory) {
    const { blocks, bavail, files, ffree } = await statfs(directory)
    return {
      free: blocks === 0 ? 1 : bavail / blocks,
      freeFiles: files === 0 ? 1 : ffree / files,
    }
  },
}
