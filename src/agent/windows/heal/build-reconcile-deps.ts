import type { NodePlan } from '../../../contract/node-plan.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { ReconcileDeps } from '../reconcile/reconcile-deps.ts'
import { type RenderDerivedFile, publishSourceAddresses } from './source-vip.ts'
import { fetchProgram } from './fetch-program.ts'

/** Builds the dependencies of reconciling the worker of a plan. */
export function buildReconcileDeps(
  host: WindowsHost,
  plan: NodePlan,
  derive: RenderDerivedFile,
  signal: AbortSignal,
): ReconcileDeps {
  const component = (name: string) => plan.components.find((one) => one.name === name)
  const plugins = plan.components
    .flatMap(({ artifacts }) => artifacts)
    .find(({ name }) => name === 'cni-plugins')
  const { services, operations } = host
  // Starts and stops go through `host.services`, which otherwise would count them as unexpected restarts.
  const countedServices = {
    ...operations.services,
    async start({ name }: { readonly name: string }) {
      await services.start(name)
      return undefined
    },
    async stop({ name }: { readonly name: string }) {
      await services.stop(name)
      return undefined
    },
  }
  const allocator = host.worker.addresses(plugins?.directory ?? '')
  return {
    host: { ...operations, services: countedServices },
    clock: host.clock,
    signal,
    async isReady(role) {
      const plannedComponent = component(role)
      return plannedComponent !== undefined && host.worker.isReady(plannedComponent, signal)
    },
    subnet: async () => host.worker.subnet(plan, signal),
    addresses: publishSourceAddresses(host, plan, allocator, derive),
    fetch: async (program, to) => fetchProgram(host, plan, program, to, signal),
  }
}
