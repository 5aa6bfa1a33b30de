import type { Adapter } from '../operations/adapters.ts'
import type { HnsNetwork } from '../operations/hns.ts'
import { inSubnet } from './in-subnet.ts'
import type { Seen } from './worker-observation.ts'
import { isChanging } from './reconcile-service.ts'
import type { Scene, Wishes } from './desired-steps.ts'
import type { WorkerWish } from './worker-spec.ts'

export type Overlay = NonNullable<WorkerWish['overlay']>

/** How long flannel may take to make its network: it waits most of a minute for the adapter alone. */
export const networkPatience = 90_000

/** The one that has the host's address, and no other: before a switch was made or after, whatever it is called. */
export function adapterOf({ address }: WorkerWish, { adapters }: Seen): Adapter | undefined {
  return adapters.find(({ up, addresses }) => up && addresses.some((one) => one.address === address))
}

export function* metadataRoutes({ wish, seen }: Scene): Wishes {
  const adapter = adapterOf(wish, seen)
  const own = seen.routes.filter(({ interfaceIndex }) => interfaceIndex === adapter?.index)
  const out = own.find(({ destination }) => destination === '0.0.0.0/0')
  if (adapter === undefined || out === undefined) return
  const { index: interfaceIndex } = adapter
  for (const destination of wish.metadata) {
    if (own.some((route) => route.destination === destination)) continue
    yield { step: { do: 'route', destination, nextHop: out.nextHop, interfaceIndex }, keeps: false }
  }
}

/** The first network on the adapter breaks connections: it is made once, by ours, and stays. */
export function* switchIsHeld(
  { wish, seen }: Scene,
  hold: Overlay['hold'],
  networks: readonly HnsNetwork[],
): Wishes {
  const there = networks.find(({ name }) => name === hold.name)
  if (there?.type === 'overlay') return
  if (there !== undefined) {
    yield { step: { do: 'drop-network', id: there.id, name: there.name }, keeps: true }
    return
  }
  const adapter = physicalOf(wish, seen)
  if (adapter === undefined) yield { wait: 'the adapter below the switch' }
  else yield { step: { do: 'hold', adapter }, keeps: true }
}

/** A switch takes the address, and is called after the adapter that it is on: vEthernet (Ethernet). */
function physicalOf(wish: WorkerWish, seen: Seen): string | undefined {
  const adapter = adapterOf(wish, seen)
  if (adapter?.virtual !== true) return adapter?.name
  const name = /^vEthernet \((.*)\)$/.exec(adapter.name)?.[1]
  return seen.adapters.find((one) => one.name === name && !one.virtual)?.name
}

/** Flannel does not look at the type of a network that is there: it has to stop first, or it would never make another. */
export function* wrongNetwork(
  scene: Scene,
  network: Overlay['network'],
  networks: readonly HnsNetwork[],
): Wishes {
  const { wish, seen } = scene
  const there = networks.find((one) => one.name === network.name)
  if (there === undefined) return
  const { id, name, type, managementAddress = wish.address } = there
  if (type === network.type && managementAddress === wish.address) return
  const flanneld = seen.services.get(wish.services.flanneld?.service.name ?? '')
  if (flanneld?.state === 'Running') yield { step: { do: 'stop', role: 'flanneld' }, keeps: true }
  if (flanneld !== undefined && flanneld.state !== 'Stopped')
    yield* isChanging(scene, 'flanneld', flanneld.processId)
  yield { step: { do: 'drop-network', id, name }, keeps: true }
}

export function* networkIsLate({ memory, now }: Scene, { name }: Overlay['network']): Wishes {
  const since = memory.started.flanneld?.at ?? now
  if (now - since > networkPatience) yield { step: { do: 'stop', role: 'flanneld' }, keeps: true }
  yield { wait: `flannel to make the network ${name}` }
}

/** Taken in the book of those who give addresses to pods, or some pod would get it. */
export function* sourceAddress({ seen }: Scene, network: HnsNetwork): Wishes {
  const [subnet] = network.subnets
  if (subnet === undefined) yield { wait: 'the network to have a subnet' }
  else if (seen.sourceAddress === undefined) yield { step: { do: 'reserve', subnet }, keeps: true }
  else if (!inSubnet(seen.sourceAddress, subnet)) yield { step: { do: 'release' }, keeps: true }
}
