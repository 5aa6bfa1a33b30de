import { open, rm, statfs } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { hostCommand } from '../../host/command.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { Disks, ProbeEdges } from './probe-deps.ts'

/** The same on each host, so that one which a power cut left is taken away by the next. */
const trace = '.hyperkube-probe'

export function hostEdges({
  files,
  systemd,
  clock,
}: Pick<LinuxHost, 'files' | 'systemd' | 'clock'>): ProbeEdges {
  return {
    files,
    systemd,
    clock,
    monotonic: () => performance.now(),
    command: hostCommand,
    disks: hostDisks,
    addresses,
  }
}

/** Asked of the kernel by this process itself: to start a program every few seconds would cost more than all else. */
function addresses(name: string): readonly string[] {
  return (networkInterfaces()[name] ?? []).flatMap(({ family, address }) =>
    family === 'IPv4' ? [address] : [],
  )
}

export const hostDisks: Disks = {
  async write(directory) {
    const path = join(directory, trace)
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
