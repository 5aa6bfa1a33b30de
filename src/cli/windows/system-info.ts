import { statfs } from 'node:fs/promises'
import { availableParallelism, hostname, networkInterfaces, release, totalmem } from 'node:os'
import type { BasicWindowsFactSource } from '../../agent/facts/windows/source.ts'

/** Reads system data with Node, without PowerShell. */
export function readWindowsSystemInfo(): Omit<BasicWindowsFactSource, 'operations' | 'base'> {
  return {
    arch: process.arch,
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    release: release(),
    hostname: hostname().toLowerCase(),
    interfaces: networkInterfaces,
    now: () => new Date(),
    async space(path) {
      const { bsize, blocks, bavail } = await statfs(path)
      return { totalBytes: bsize * blocks, availableBytes: bsize * bavail }
    },
  }
}
