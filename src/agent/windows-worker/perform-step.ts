import type { ReconcileDeps } from './reconcile-deps.ts'
import { buildProgramPaths } from './replace-program.ts'
import type { ReconcileStep } from './step.ts'
import type { WorkerRole, WorkerServiceSpec, WorkerSpec } from './worker.ts'

/** Performs one step. The next observation shows whether it succeeded. */
export async function performReconcileStep(
  deps: ReconcileDeps,
  spec: WorkerSpec,
  step: ReconcileStep,
): Promise<void> {
  const { host, addresses } = deps
  switch (step.do) {
    case 'allow': {
      const rule = spec.firewall.find(({ name }) => name === step.rule)
      if (rule !== undefined) await host.firewall.put({ ...rule, group: spec.group })
      return
    }
    case 'route': {
      const { destination, nextHop, interfaceIndex } = step
      return host.routes.add({ destination, nextHop, interfaceIndex, metric: 1 })
    }
    case 'fetch': {
      const { program } = requireService(spec, step.role)
      return deps.fetch(program, buildProgramPaths(program).staged)
    }
    case 'move':
      return host.files.move({ from: step.from, to: step.to })
    case 'discard':
      return host.files.remove({ path: step.path })
    case 'put':
      return host.services.put(requireService(spec, step.role).service)
    case 'start-hns':
      return host.services.start({ name: 'hns' })
    case 'start':
      return host.services.start({ name: requireService(spec, step.role).service.name })
    case 'stop':
      return host.services.stop({ name: requireService(spec, step.role).service.name })
    case 'end': {
      const { id, program, startedAt } = step.process
      return host.processes.end({ id, program, startedAt })
    }
    case 'hold':
      return host.networks.create({ ...requireOverlay(spec).anchor, adapter: step.adapter })
    case 'drop-network':
      return host.networks.remove({ id: step.id })
    case 'reserve':
      await addresses.reserve(requireOverlay(spec).network.name, step.subnet)
      return
    case 'release':
      return addresses.release(requireOverlay(spec).network.name)
    case 'give-up':
      return undefined
    case 'reopen':
      return host.services.stop({ name: requireService(spec, 'apiserver-proxy').service.name })
  }
}

function requireService({ services }: WorkerSpec, role: WorkerRole): WorkerServiceSpec {
  const service = services[role]
  if (service === undefined) throw new Error(`the spec has no service ${role}`)
  return service
}

function requireOverlay({ overlay }: WorkerSpec): NonNullable<WorkerSpec['overlay']> {
  if (overlay === undefined) throw new Error('the spec has no pod network')
  return overlay
}
