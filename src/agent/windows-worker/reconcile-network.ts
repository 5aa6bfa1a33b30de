import { BlockList } from 'node:net'
import type { Adapter, HnsNetwork } from '../host/windows-operations/network.ts'
import type { DesiredSteps, ReconcileContext } from './desired-steps.ts'
import { waitForTransition } from './reconcile-service.ts'
import type { WorkerObservation, WorkerSpec } from './worker.ts'

export type Overlay = NonNullable<WorkerSpec['overlay']>

/**
 * Milliseconds that flannel may take to create its network. flannel alone waits almost a minute for the
 * adapter.
 */
export const networkTimeoutMs = 90_000

/**
 * Finds the adapter that has the host's address. The adapter's name is ignored, because the address moves to
 * another adapter when a switch is created.
 */
export function findAdapter({ address }: WorkerSpec, { adapters }: WorkerObservation): Adapter | undefined {
  return adapters.find(({ up, addresses }) => up && addresses.some((one) => one.address === address))
}

export function* reconcileMetadataRoutes({ spec, observed }: ReconcileContext): DesiredSteps {
  const adapter = findAdapter(spec, observed)
  const adapterRoutes = observed.routes.filter(({ interfaceIndex }) => interfaceIndex === adapter?.index)
  const defaultRoute = adapterRoutes.find(({ destination }) => destination === '0.0.0.0/0')
  if (adapter === undefined || defaultRoute === undefined) return
  const { index: interfaceIndex } = adapter
  for (const destination of spec.metadata) {
    if (adapterRoutes.some((route) => route.destination === destination)) continue
    yield {
      step: { do: 'route', destination, nextHop: defaultRoute.nextHop, interfaceIndex },
      blocking: false,
    }
  }
}

/**
 * Creates the network that keeps the virtual switch alive. Creating the first network on an adapter breaks
 * connections, so hyperkube creates this network once and keeps it.
 */
export function* reconcileSwitch(
  { spec, observed }: ReconcileContext,
  anchor: Overlay['anchor'],
  networks: readonly HnsNetwork[],
): DesiredSteps {
  const existing = networks.find(({ name }) => name === anchor.name)
  if (existing?.type === 'overlay') return
  if (existing !== undefined) {
    yield { step: { do: 'drop-network', id: existing.id, name: existing.name }, blocking: true }
    return
  }
  const adapter = findPhysicalAdapter(spec, observed)
  if (adapter === undefined) yield { wait: 'the adapter below the switch' }
  else yield { step: { do: 'hold', adapter }, blocking: true }
}

/**
 * Finds the physical adapter. If a virtual switch has taken over the host's address, the switch's name
 * contains the name of the physical adapter, for example vEthernet (Ethernet).
 */
function findPhysicalAdapter(spec: WorkerSpec, observed: WorkerObservation): string | undefined {
  const adapter = findAdapter(spec, observed)
  if (adapter?.virtual !== true) return adapter?.name
  const name = /^vEthernet \((.*)\)$/.exec(adapter.name)?.[1]
  return observed.adapters.find((one) => one.name === name && !one.virtual)?.name
}

/**
 * Stops flanneld and removes a network that has the wrong type or management address. flannel would reuse
 * such a network without checking it.
 */
export function* reconcileNetworkType(
  context: ReconcileContext,
  network: Overlay['network'],
  networks: readonly HnsNetwork[],
): DesiredSteps {
  const { spec, observed } = context
  const existing = networks.find((one) => one.name === network.name)
  if (existing === undefined) return
  const { id, name, type, managementAddress = spec.address } = existing
  if (type === network.type && managementAddress === spec.address) return
  const flanneld = observed.services.get(spec.services.flanneld?.service.name ?? '')
  if (flanneld?.state === 'Running') yield { step: { do: 'stop', role: 'flanneld' }, blocking: true }
  if (flanneld !== undefined && flanneld.state !== 'Stopped')
    yield* waitForTransition(context, 'flanneld', flanneld.processId)
  yield { step: { do: 'drop-network', id, name }, blocking: true }
}

export function* waitForNetwork(
  { state, now }: ReconcileContext,
  { name }: Overlay['network'],
): DesiredSteps {
  const since = state.started.flanneld?.at ?? now
  if (now - since > networkTimeoutMs) yield { step: { do: 'stop', role: 'flanneld' }, blocking: true }
  yield { wait: `flannel to create the network ${name}` }
}

/** Reserves the source address in the same IPAM store as pod addresses, so it is never given to a pod. */
export function* reconcileSourceAddress({ observed }: ReconcileContext, network: HnsNetwork): DesiredSteps {
  const [subnet] = network.subnets
  if (subnet === undefined) yield { wait: 'the network to have a subnet' }
  else if (observed.sourceAddress === undefined) yield { step: { do: 'reserve', subnet }, blocking: true }
  else if (!isInSubnet(observed.sourceAddress, subnet)) yield { step: { do: 'release' }, blocking: true }
}

/** True if an address is in a subnet such as 10.244.3.0/24. */
export function isInSubnet(address: string, subnet: string): boolean {
  const [network = '', prefix = ''] = subnet.split('/')
  const list = new BlockList()
  list.addSubnet(network, Number(prefix))
  return list.check(address)
}
