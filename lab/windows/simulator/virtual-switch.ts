import { type Machine, newId, type SimulatedNetwork } from './machine.ts'

const adapterDownMs = 8000

/**
 * Adds a network. The first network with an adapter creates a switch: the host's address moves to a new
 * interface, all connections break, and routes are lost. When the last such network is removed, the address
 * moves back, with the same effects.
 */
export function addNetwork(machine: Machine, spec: Omit<SimulatedNetwork, 'id' | 'managementAddress'>): void {
  if (machine.networks.some(({ name }) => name === spec.name))
    throw new Error('A network with this name already exists. (HNS)')
  const first = !hasSwitch(machine)
  machine.networks.push({ ...spec, id: newId(machine), managementAddress: undefined })
  if (first && hasSwitch(machine)) moveAddress(machine, { name: 'vEthernet (Ethernet)', virtual: true })
}

export function removeNetwork(machine: Machine, id: string): void {
  const hadSwitch = hasSwitch(machine)
  machine.networks = machine.networks.filter((network) => network.id !== id)
  const removedEndpoints = new Set(
    machine.endpoints.filter(({ network }) => network === id).map((endpoint) => endpoint.id),
  )
  machine.endpoints = machine.endpoints.filter(({ network }) => network !== id)
  machine.policies = machine.policies.filter(
    ({ endpoints }) => !endpoints.some((one) => removedEndpoints.has(one)),
  )
  if (hadSwitch && !hasSwitch(machine)) moveAddress(machine, { name: 'Ethernet', virtual: false })
}

export function hasSwitch({ networks }: Machine): boolean {
  return networks.some(({ adapter }) => adapter !== undefined)
}

/**
 * Takes down all adapters for some seconds, except the adapter of the backup network. These adapters lose all
 * routes but the default route.
 */
export function bounce(machine: Machine): void {
  machine.breaks++
  for (const adapter of machine.adapters) {
    if (adapter.name === 'Backup network') continue
    adapter.downUntil = machine.time + adapterDownMs
    machine.routes = machine.routes.filter(
      ({ interfaceIndex, destination }) => interfaceIndex !== adapter.index || destination === '0.0.0.0/0',
    )
  }
}

function moveAddress(machine: Machine, to: { name: string; virtual: boolean }): void {
  const old = new Set(
    machine.adapters.filter(({ name }) => name !== 'Backup network').map(({ index }) => index),
  )
  machine.routes = machine.routes.filter(({ interfaceIndex }) => !old.has(interfaceIndex))
  const address = { IPAddress: machine.address, PrefixLength: 24 }
  const index = to.virtual ? ++machine.last : 4
  machine.adapters = [
    { name: 'Ethernet', index: 4, virtual: false, downUntil: 0, addresses: to.virtual ? [] : [address] },
    ...(to.virtual ? [{ ...to, index, downUntil: 0, addresses: [address] }] : []),
    ...machine.adapters.filter(({ name }) => name === 'Backup network'),
  ]
  machine.routes.push({
    destination: '0.0.0.0/0',
    nextHop: machine.gateway,
    interfaceIndex: index,
    metric: 0,
  })
  bounce(machine)
}

/** True if the adapter with the host's address is up. */
export function isUp({ adapters, time, address }: Machine): boolean {
  return adapters.some(
    ({ addresses, downUntil }) =>
      downUntil <= time && addresses.some(({ IPAddress }) => IPAddress === address),
  )
}
