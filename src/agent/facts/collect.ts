import { type Facts, factsFormat } from '../../contract/facts.ts'
import { readAddresses } from './linux/addresses.ts'
import { readMissingCapabilities } from './linux/capabilities.ts'
import { readCgroup } from './linux/cgroup.ts'
import { readContainer } from './linux/container.ts'
import { readDefaultInterface } from './linux/default-interface.ts'
import { readDisks } from './linux/disks.ts'
import { readDistribution } from './linux/distribution.ts'
import type { Fact, LinuxFacts } from './linux/fact.ts'
import { readForeignServices } from './linux/foreign-services.ts'
import { readArch, readClock, readCpus, readMemoryBytes } from './linux/hardware.ts'
import { readInit } from './linux/init.ts'
import { readKernel } from './linux/kernel.ts'
import { readListeners } from './linux/listeners.ts'
import { readFirewalls, readNetworkManager } from './linux/managers.ts'
import { readHostname, readMachineId } from './linux/names.ts'
import { readPrograms } from './linux/programs.ts'
import { readResolver } from './linux/resolver.ts'
import { readSelinux } from './linux/selinux.ts'
import { readSwap } from './linux/swap.ts'
import type { FactSource } from './source.ts'

/** Readers of all facts, one per field. The type requires an entry for each field of the contract. */
const linuxFacts: { readonly [Field in Exclude<keyof LinuxFacts, 'os'>]-?: Fact<Field> } = {
  hostname: readHostname,
  machineId: readMachineId,
  arch: readArch,
  cpus: readCpus,
  memoryBytes: readMemoryBytes,
  addresses: readAddresses,
  defaultInterface: readDefaultInterface,
  clock: readClock,
  disks: readDisks,
  listeners: readListeners,
  distribution: readDistribution,
  container: readContainer,
  kernel: readKernel,
  cgroup: readCgroup,
  programs: readPrograms,
  foreignServices: readForeignServices,
  missingCapabilities: readMissingCapabilities,
  swap: readSwap,
  init: readInit,
  resolver: readResolver,
  firewalls: readFirewalls,
  networkManager: readNetworkManager,
  selinux: readSelinux,
}

/**
 * Collects all facts of a Linux host in parallel. `host` is the name in cluster.yml; the hostname of the
 * machine is one of the facts.
 */
export async function collectFacts(source: FactSource, host: string): Promise<Facts> {
  const cached = cacheCommands(source)
  const found = await Promise.all(
    Object.entries(linuxFacts).map(async ([field, fact]) => [field, await fact(cached)] as const),
  )
  const system = { os: 'linux', ...Object.fromEntries(found) }
  return factsFormat.newest.schema.parse({ apiVersion: 'hyperkube.dev/v1', kind: 'Facts', host, system })
}

/** Runs each command only once, even if several facts need its output, because starting a program is slow. */
function cacheCommands(source: FactSource): FactSource {
  const results = new Map<string, ReturnType<FactSource['run']>>()
  return {
    ...source,
    run: async (argv) => {
      const key = argv.join('\0')
      const result = results.get(key) ?? source.run(argv)
      results.set(key, result)
      return result
    },
  }
}
