import type { Facts } from '../../contract/facts.ts'
import type { PlanInput } from '../context.ts'
import { buildSharedPlanData } from '../shared-data.ts'
import type { Topology } from '../topology.ts'
import type { ClusterNetwork, CheckInput } from './check.ts'
import { toIpv4Range } from './ipv4.ts'

export function buildCheckInput(input: PlanInput, topology: Topology): CheckInput {
  const { spec } = input.cluster
  const names = spec.hosts.map(({ name }) => name).toSorted()
  return {
    ...input,
    ...buildSharedPlanData(input.lock),
    topology,
    networks: [
      ...toClusterNetworks('pods', spec.network.pods),
      ...toClusterNetworks('services', spec.network.services),
    ],
    firstHostByMachineId: findFirstHosts(input, names, ({ machineId }) => machineId),
    firstHostByHostname: findFirstHosts(input, names, ({ hostname }) => hostname.toLowerCase()),
  }
}

function toClusterNetworks(name: ClusterNetwork['name'], texts: readonly string[]): ClusterNetwork[] {
  return texts
    .filter((text) => !text.includes(':'))
    .map((text) => {
      const [address = '', prefix] = text.split('/')
      return { name, text, range: toIpv4Range(address, Number(prefix)) }
    })
}

/** Maps each value that must be unique to the first host with this value. */
function findFirstHosts(
  { facts }: PlanInput,
  names: readonly string[],
  toKey: (system: Facts['system']) => string,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of names) {
    const system = facts.get(name)?.system
    if (system !== undefined && !found.has(toKey(system))) found.set(toKey(system), name)
  }
  return found
}
