import { open, rm, statfs } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { runHostCommand } from '../../host/command.ts'
import type { LinuxHost } from '../../host/host.ts'
import type { Disks, ProbeDeps } from './probe-deps.ts'

/** The file name is fixed, so the next probe removes a file that remained after a power failure. */
const probeFileName = '.hyperkube-probe'

export function createProbeDeps({
  files,
  systemd,
  clock,
}: Pick<LinuxHost, 'files' | 'systemd' | 'clock'>): ProbeDeps {
  return {
    files,
    systemd,
    clock,
    monotonic: () => performance.now(),
    command: runHostCommand,
    disks: hostDisks,
    addresses,
  }
}

/**
 * Returns the IPv4 addresses of an interface. They are read without starting a program, which would cost more
 * than all other probes.
 */
function addresses(name: string): readonly string[] {
  return (networkInterfaces()[name] ?? []).flatMap(({ family, address }) =>
    family === 'IPv4' ? [address] : [],
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
