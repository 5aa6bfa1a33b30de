import type { Facts } from '../../contract/facts.ts'
import type { PlanInput } from '../context.ts'
import { sharedOf } from '../shared-data.ts'
import type { Topology } from '../topology.ts'
import type { ClusterNetwork, Situation } from './check.ts'
import { ipv4Range } from './ipv4.ts'

export function situationOf(input: PlanInput, topology: Topology): Situation {
  const { spec } = input.cluster
  const names = spec.hosts.map(({ name }) => name).toSorted()
  return {
    ...input,
    ...sharedOf(input.lock),
    topology,
    networks: [...networksOf('pods', spec.network.pods), ...networksOf('services', spec.network.services)],
    firstOfMachine: firsts(input, names, ({ machineId }) => machineId),
    firstOfHostname: firsts(input, names, ({ hostname }) => hostname.toLowerCase()),
  }
}

function networksOf(name: ClusterNetwork['name'], texts: readonly string[]): ClusterNetwork[] {
  return texts
    .filter((text) => !text.includes(':'))
    .map((text) => {
      const [address = '', prefix] = text.split('/')
      return { name, text, range: ipv4Range(address, Number(prefix)) }
    })
}

/** By what hosts should not share: the first host that has it. */
function firsts(
  { facts }: PlanInput,
  names: readonly string[],
  keyOf: (system: Facts['system']) => string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of names) {
    const system = facts.get(name)?.system
    if (system !== undefined && !found.has(keyOf(system))) found.set(keyOf(system), name)
  }
  return found
}
