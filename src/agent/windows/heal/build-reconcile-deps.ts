import type { NodePlan } from '../../../contract/node-plan.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { WorkerEdges } from '../reconcile/reconcile-deps.ts'
import { type Derive, toldAddresses } from './source-vip.ts'
import { fetchProgram } from './fetch-program.ts'

/** A plan's worker, through the host that it is on. */
export function workerEdges(
  host: WindowsHost,
  plan: NodePlan,
  derive: Derive,
  signal: AbortSignal,
): WorkerEdges {
  const component = (name: string) => plan.components.find((one) => one.name === name)
  const plugins = plan.components
    .flatMap(({ artifacts }) => artifacts)
    .find(({ name }) => name === 'cni-plugins')
  const { services, operations } = host
  // Who counts restarts has to know which of them we have asked for.
  const told = {
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
  const book = host.worker.addresses(plugins?.directory ?? '')
  return {
    host: { ...operations, services: told },
    clock: host.clock,
    signal,
    async isReady(role) {
      const asked = component(role)
      return asked !== undefined && host.worker.isReady(asked, signal)
    },
    subnet: async () => host.worker.subnet(plan, signal),
    addresses: toldAddresses(host, plan, book, derive),
    fetch: async (program, to) => fetchProgram(host, plan, program, to, signal),
  }
}
