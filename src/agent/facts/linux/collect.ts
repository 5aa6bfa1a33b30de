import { type Facts, factsFormat } from '../../../contract/facts.ts'
import { readAddresses, readDefaultInterface, readHostname, readMachineId, readResolver } from './network.ts'
import { readContainer, readMissingCapabilities } from './capabilities.ts'
import { readCgroup } from './cgroup.ts'
import {
  readDistribution,
  readFirewalls,
  readForeignFilterTable,
  readInit,
  readNetworkManager,
  readPrograms,
  readSelinux,
} from './system.ts'
import { readIpv6 } from './ipv6.ts'
import { readForeignServices } from './foreign-services.ts'
import { readArch, readClock, readCpus, readDisks, readMemoryBytes, readSwap } from './hardware.ts'
import { readKernel } from './kernel.ts'
import { readListeners } from './listeners.ts'
import type { Fact, FactSource, LinuxFacts } from '../source.ts'

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
  ipv6: readIpv6,
  programs: readPrograms,
  foreignFilterTable: readForeignFilterTable,
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
