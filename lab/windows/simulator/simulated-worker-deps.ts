import type { SourceAddresses, WorkerDeps } from '../../../src/agent/host/host.ts'
import type { Machine } from './machine.ts'
import { isProgramReady } from './programs.ts'
import { isUp } from './virtual-switch.ts'

/** Creates the interfaces that reconciling a simulated worker needs in addition to Windows operations. */
export function simulatedWorkerDeps(machine: Machine): WorkerDeps {
  return {
    isReady: async ({ service }) => service === undefined || isProgramReady(machine, service.name),
    subnet: async () => readSubnet(machine),
    addresses: () => simulatedAddresses(machine),
  }
}

export function readSubnet(machine: Machine): string | undefined {
  return machine.cluster.registered && isUp(machine) ? machine.cluster.subnet : undefined
}

/** Simulates address reservations of host-local. */
export function simulatedAddresses(machine: Machine): SourceAddresses {
  const book = (network: string): Map<string, string> => {
    const existing = machine.taken.get(network) ?? new Map<string, string>()
    machine.taken.set(network, existing)
    return existing
  }
  const findReserved = (network: string): string | undefined =>
    [...book(network)].find(([, owner]) => owner === 'kube-proxy')?.[0]
  return {
    findReserved: async (network) => findReserved(network),
    async reserve(network, subnet) {
      const known = findReserved(network)
      if (known !== undefined) return known
      const address = findFreeAddress(book(network), subnet)
      book(network).set(address, 'kube-proxy')
      return address
    },
    async release(network) {
      const known = findReserved(network)
      if (known !== undefined) book(network).delete(known)
    },
  }
}

/** Returns the first free address, like host-local. */
function findFreeAddress(book: ReadonlyMap<string, string>, subnet: string): string {
  const start = subnet.slice(0, subnet.lastIndexOf('.'))
  for (let last = 2; ; last++) if (!book.has(`${start}.${last}`)) return `${start}.${last}`
}
