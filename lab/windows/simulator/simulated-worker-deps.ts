import type { SourceAddresses } from '../../../src/agent/windows/reconcile/reconcile-deps.ts'
import type { WorkerHands } from '../../../src/agent/windows/reconcile/worker-deps.ts'
import type { Machine } from './machine.ts'
import { isReady } from './programs.ts'
import { isUp } from './virtual-switch.ts'

/** What of a worker is not asked of its Windows, for a simulated one. */
export function simulatedHands(machine: Machine): WorkerHands {
  return {
    isReady: async ({ service }) => service === undefined || isReady(machine, service.name),
    subnet: async () => subnetOf(machine),
    addresses: () => simulatedAddresses(machine),
  }
}

export function subnetOf(machine: Machine): string | undefined {
  return machine.cluster.registered && isUp(machine) ? machine.cluster.subnet : undefined
}

/** The book of host-local. */
export function simulatedAddresses(machine: Machine): SourceAddresses {
  const book = (network: string): Map<string, string> => {
    const there = machine.taken.get(network) ?? new Map<string, string>()
    machine.taken.set(network, there)
    return there
  }
  const reservedIn = (network: string): string | undefined =>
    [...book(network)].find(([, owner]) => owner === 'kube-proxy')?.[0]
  return {
    reserved: async (network) => reservedIn(network),
    async reserve(network, subnet) {
      const known = reservedIn(network)
      if (known !== undefined) return known
      const address = freeIn(book(network), subnet)
      book(network).set(address, 'kube-proxy')
      return address
    },
    async release(network) {
      const known = reservedIn(network)
      if (known !== undefined) book(network).delete(known)
    },
  }
}

/** The first address that nobody has, as host-local gives them. */
function freeIn(book: ReadonlyMap<string, string>, subnet: string): string {
  const start = subnet.slice(0, subnet.lastIndexOf('.'))
  for (let last = 2; ; last++) if (!book.has(`${start}.${last}`)) return `${start}.${last}`
}
