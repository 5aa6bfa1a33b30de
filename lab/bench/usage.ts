import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { findCgroups, hierarchies } from '../hosts/cgroup.ts'
import type { Host } from '../hosts/host.ts'

/** What a set of hosts took from the machine. */
export interface Usage {
  readonly cpuSeconds: number
  /** Peak of the sum over all hosts, without page cache. */
  readonly peakBytes: number
}

const every = 250

/** Samples the hosts' own cgroups until it is stopped. */
export async function meter(hosts: readonly Host[]): Promise<{ stop(): Promise<Usage> }> {
  const mounts = await hierarchies()
  const memory = await directories(
    hosts,
    mounts.find(({ controllers }) => controllers.includes('memory'))?.mount,
  )
  const cpu = await directories(
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
    // A host that goes away in between is told by whoever needs it.
    sampling = sampling.then(sample).catch(() => undefined)
  }, every)
  return {
    async stop() {
      clearInterval(timer)
      await sampling
      await sample()
      return { cpuSeconds: (await cpuSeconds(cpu)) - cpuAtStart, peakBytes }
    },
  }
}

async function directories(hosts: readonly Host[], mount: string | undefined): Promise<string[]> {
  if (mount === undefined) return []
  const found = await Promise.all(hosts.map(async ({ mark }) => findCgroups(mark)))
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
