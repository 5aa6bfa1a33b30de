import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findCgroups, readHierarchies } from '../hosts/cgroup.ts'
import type { Host } from '../hosts/host.ts'

/** CPU time and memory that a set of lab hosts used. */
export interface Usage {
  readonly cpuSeconds: number
  /** Peak of the total memory of all hosts, without page cache. */
  readonly peakBytes: number
}

const sampleIntervalMs = 250

/** Samples CPU time and memory of the hosts' cgroups until `stop` is called. */
export async function meterUsage(hosts: readonly Host[]): Promise<{ stop(): Promise<Usage> }> {
  const mounts = await readHierarchies()
  const memory = await findHostCgroups(
    hosts,
    mounts.find(({ controllers }) => controllers.includes('memory'))?.mount,
  )
  const cpu = await findHostCgroups(
    hosts,
    mounts.find(({ controllers }) => controllers.includes('cpuacct'))?.mount,
  )
  const cpuAtStart = await cpuSeconds(cpu)
  let peakBytes = 0
  let sampling = Promise.resolve()
  const sample = async (): Promise<void> => {
    peakBytes = Math.max(peakBytes, await residentBytes(memory))
  }
  const timer = setInterval(() => {
    // Errors are ignored here: if a host disappears, the code that uses the host reports the error.
    sampling = sampling.then(sample).catch(() => undefined)
  }, sampleIntervalMs)
  return {
    async stop() {
      clearInterval(timer)
      await sampling
      await sample()
      return { cpuSeconds: (await cpuSeconds(cpu)) - cpuAtStart, peakBytes }
    },
  }
}

async function findHostCgroups(hosts: readonly Host[], mount: string | undefined): Promise<string[]> {
  if (mount === undefined) return []
  const found = await Promise.all(hosts.map(async ({ hostId }) => findCgroups(hostId)))
  return found.flat().filter((directory) => directory.startsWith(`${mount}/`))
}

async function cpuSeconds(cgroups: readonly string[]): Promise<number> {
  const texts = await Promise.all(cgroups.map(async (path) => readFile(join(path, 'cpuacct.usage'), 'utf8')))
  return texts.reduce((sum, text) => sum + Number(text) / 1e9, 0)
}

async function residentBytes(cgroups: readonly string[]): Promise<number> {
  const texts = await Promise.all(cgroups.map(async (path) => readFile(join(path, 'memory.stat'), 'utf8')))
  return texts.reduce((sum, text) => sum + Number(/^total_rss (\d+)$/m.exec(text)?.[1] ?? 0), 0)
}
