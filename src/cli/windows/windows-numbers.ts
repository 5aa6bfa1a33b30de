import { statfs } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import type { WindowsSource } from '../../agent/facts/windows/fact.ts'

/** What Node itself knows of the Windows that it runs on. */
export function windowsNumbers(): Omit<WindowsSource, 'operations' | 'base'> {
  return {
    arch: process.arch,
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    now: () => new Date(),
    async space(path) {
      const { bsize, blocks, bavail } = await statfs(path)
      return { totalBytes: bsize * blocks, availableBytes: bsize * bavail }
    },
  }
}
