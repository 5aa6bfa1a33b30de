import { cacheDirectory } from '../../lab/cache.ts'
import type { Host } from '../../lab/hosts/host.ts'
import { Lab, type UpOptions } from '../../lab/hosts/lab.ts'
import type { Traces } from '../../lab/hosts/cleanup.ts'
import { settleAll } from '../../src/kit/settle-all.ts'

/** A lab of the test's own, empty whatever an earlier run has left. */
export async function freshLab(name: string): Promise<Lab> {
  const options = { name: `e2e-${name}`, cache: cacheDirectory() }
  await (await Lab.open(options)).down()
  return Lab.open(options)
}

/** For suites that need no second one. */
export async function oneHost(lab: Lab, name: string, options: UpOptions = {}): Promise<Host> {
  const [host] = await lab.up([name], options)
  if (host === undefined) throw new Error('no host came up')
  return host
}

/** Hosts that can lose their power: what they were made of is on their disks, as on machines that have run for a while. */
export async function mortalHosts(lab: Lab, names: readonly string[]): Promise<Host[]> {
  const hosts = await lab.up(names, { disk: 'loop', diskGigabytes: 8 })
  await settleAll(hosts.map(async (host) => host.exec(['sync', '-f', '/'])))
  return hosts
}

/** What a lab has on the machine once it is down. */
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
