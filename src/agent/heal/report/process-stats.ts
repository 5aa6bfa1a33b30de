import { readdir } from 'node:fs/promises'
import type { ProcessStats } from './metrics.ts'

/** Reads the resource usage of this process. */
export async function readProcessStats(): Promise<ProcessStats> {
  const { user, system } = process.cpuUsage()
  const open = await readdir('/proc/self/fd').catch(() => undefined)
  return {
    cpuSeconds: (user + system) / 1e6,
    residentBytes: process.memoryUsage.rss(),
    startedAt: Math.round(Date.now() / 1000 - process.uptime()),
    openFiles: open?.length,
  }
}
