import type { WorkerEdges } from './reconcile-deps.ts'
import { placesOf } from './replace-program.ts'
import type { Step } from './step.ts'
import type { Role, WorkerService, WorkerWish } from './worker-spec.ts'

/** Takes a step. Whether it was enough is for the next look. */
export async function perform(edges: WorkerEdges, wish: WorkerWish, step: Step): Promise<void> {
  const { host, addresses } = edges
  switch (step.do) {
    case 'allow': {
      const rule = wish.firewall.find(({ name }) => name === step.rule)
      if (rule !== undefined) await host.firewall.put({ ...rule, group: wish.group })
      return
    }
    case 'route': {
      const { destination, nextHop, interfaceIndex } = step
      return host.routes.add({ destination, nextHop, interfaceIndex, metric: 1 })
    }
    case 'fetch': {
      const { program } = serviceOf(wish, step.role)
      return edges.fetch(program, placesOf(program).staged)
    }
    case 'move':
      return host.files.move({ from: step.from, to: step.to })
    case 'discard':
      return host.files.remove({ path: step.path })
    case 'put':
      return host.services.put(serviceOf(wish, step.role).service)
    case 'start-hns':
      return host.services.start({ name: 'hns' })
    case 'start':
      return host.services.start({ name: serviceOf(wish, step.role).service.name })
    case 'stop':
      return host.services.stop({ name: serviceOf(wish, step.role).service.name })
    case 'end': {
      const { id, program, startedAt } = step.process
      return host.processes.end({ id, program, startedAt })
    }
    case 'hold':
      return host.networks.create({ ...overlayOf(wish).hold, adapter: step.adapter })
    case 'drop-network':
      return host.networks.remove({ id: step.id })
    case 'reserve':
      await addresses.reserve(overlayOf(wish).network.name, step.subnet)
      return
    case 'release':
      return addresses.release(overlayOf(wish).network.name)
    case 'give-up':
      return undefined
    case 'reopen':
      return host.services.stop({ name: serviceOf(wish, 'apiserver-proxy').service.name })
  }
}

function serviceOf({ services }: WorkerWish, role: Role): WorkerService {
  const service = services[role]
  if (service === undefined) throw new Error(`nobody has wished for ${role}`)
  return service
}

function overlayOf({ overlay }: WorkerWish): NonNullable<WorkerWish['overlay']> {
  if (overlay === undefined) throw new Error('nobody has wished for a network of pods')
  return overlay
}
