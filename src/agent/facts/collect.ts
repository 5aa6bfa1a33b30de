import { type Facts, factsFormat } from '../../contract/facts.ts'
import { addresses } from './linux/addresses.ts'
import { missingCapabilities } from './linux/capabilities.ts'
import { cgroup } from './linux/cgroup.ts'
import { container } from './linux/container.ts'
import { defaultInterface } from './linux/default-interface.ts'
import { disks } from './linux/disks.ts'
import { distribution } from './linux/distribution.ts'
import type { Fact, LinuxFacts } from './linux/fact.ts'
import { foreignServices } from './linux/foreign-services.ts'
import { arch, clock, cpus, memoryBytes } from './linux/hardware.ts'
import { init } from './linux/init.ts'
import { kernel } from './linux/kernel.ts'
import { listeners } from './linux/listeners.ts'
import { firewalls, networkManager } from './linux/managers.ts'
import { hostname, machineId } from './linux/names.ts'
import { programs } from './linux/programs.ts'
import { resolver } from './linux/resolver.ts'
import { selinux } from './linux/selinux.ts'
import { swap } from './linux/swap.ts'
import type { FactSource } from './source.ts'

/** How each field is found: a new one in the contract needs a row here. */
const linuxFacts: { readonly [Field in Exclude<keyof LinuxFacts, 'os'>]-?: Fact<Field> } = {
  hostname,
  machineId,
  arch,
  cpus,
  memoryBytes,
  addresses,
  defaultInterface,
  clock,
  disks,
  listeners,
  distribution,
  container,
  kernel,
  cgroup,
  programs,
  foreignServices,
  missingCapabilities,
  swap,
  init,
  resolver,
  firewalls,
  networkManager,
  selinux,
}

/** All facts of a Linux host, side by side. `host` is what the cluster calls it; its own name is among the facts. */
export async function collectFacts(source: FactSource, host: string): Promise<Facts> {
  const once = askingOnce(source)
  const found = await Promise.all(
    Object.entries(linuxFacts).map(async ([field, fact]) => [field, await fact(once)] as const),
  )
  const system = { os: 'linux', ...Object.fromEntries(found) }
  return factsFormat.newest.schema.parse({ apiVersion: 'hyperkube.dev/v1', kind: 'Facts', host, system })
}

/** A question that two facts have is put once: starting a program costs more than all files together. */
function askingOnce(source: FactSource): FactSource {
  const answers = new Map<string, ReturnType<FactSource['run']>>()
  return {
    ...source,
    run: async (argv) => {
      const question = argv.join('\0')
      const answer = answers.get(question) ?? source.run(argv)
      answers.set(question, answer)
      return answer
    },
  }
}
