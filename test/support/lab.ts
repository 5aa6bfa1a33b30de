import { cacheDirectory } from '../../lab/cache.ts'
import type { Traces } from '../../lab/hosts/cleanup.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { Lab, type UpOptions } from '../../lab/hosts/lab.ts'
import { settleAll } from '../../src/kit/concurrency.ts'

/** Opens an empty lab. Removes hosts that an earlier run left in the lab. */
export async function openFreshLab(name: string): Promise<Lab> {
  const options = { name: `e2e-${name}`, cache: cacheDirectory() }
  await (await Lab.open(options)).down()
  return Lab.open(options)
}

export async function startOneHost(lab: Lab, name: string, options: UpOptions = {}): Promise<Host> {
  const [host] = await lab.up([name], options)
  if (host === undefined) throw new Error('no host came up')
  return host
}

/** Starts hosts that can survive a power cut: their files are synced to disk. */
export async function startHostsOnDisk(
  lab: Lab,
  names: readonly string[],
  options: Omit<UpOptions, 'disk'> = {},
): Promise<Host[]> {
  const hosts = await lab.up(names, { diskGigabytes: 8, ...options, disk: 'loop' })
  await settleAll(hosts.map(async (host) => host.exec(['sync', '-f', '/'])))
  return hosts
}

/** Result of `listTraces` for a lab that is down. */
export const noTraces: Traces = {
  processes: [],
  helpers: [],
  cgroups: [],
  namespaces: [],
  links: [],
  tables: [],
  mounts: [],
  loops: [],
  files: [],
}
