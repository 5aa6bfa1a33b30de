import type { NodePlan } from '../../../contract/node-plan.ts'
import { serviceRestartsFormat } from '../../../contract/service-restarts.ts'
import { readState, writeState } from '../../apply/state-file.ts'
import type { ComponentObservation } from '../../heal/decision/component-observation.ts'
import { elapsed } from '../../heal/decision/elapsed.ts'
import type { WindowsHost } from '../../host/host.ts'
import {
  countRestarts,
  type ServiceRunObservation,
  type RestartCounts,
  toRestartCounts,
} from './count-restarts.ts'

/** In the state directory of the agent, where host calls read it without an agent. */
export const restartsFile = 'restarts.json'

/** In milliseconds. Listing processes is slow on Windows. */
const intervalMs = 30_000

export interface RestartWatch {
  /** Records an observation of a plan's services. */
  observe(plan: NodePlan, components: readonly ComponentObservation[]): Promise<void>
  count(service: string): number
}

export function watchRestarts(host: WindowsHost): RestartWatch {
  let counts: RestartCounts | undefined
  let lastRun: number | undefined
  return {
    async observe(plan, components) {
      const now = host.clock.now().getTime()
      if (lastRun !== undefined && elapsed(lastRun, now) < intervalMs) return
      lastRun = now
      const previous = (counts ??= toRestartCounts(
        (await readState(host, restartsFile, serviceRestartsFormat))?.services ?? {},
      ))
      counts = countRestarts(previous, await observeServices(host, plan, components))
      if ([...counts].every(([name, { total }]) => total === (previous.get(name)?.total ?? 0))) return
      await writeState(host, restartsFile, {
        apiVersion: 'hyperkube.dev/v1',
        kind: 'ServiceRestarts',
        services: Object.fromEntries([...counts].map(([name, { total }]) => [name, total])),
      })
    },
    count: (service) => counts?.get(service)?.total ?? 0,
  }
}

async function observeServices(
  { operations, layout }: WindowsHost,
  { components: plannedComponents }: NodePlan,
  observed: readonly ComponentObservation[],
): Promise<ServiceRunObservation[]> {
  const processes = await operations.processes.list({ below: layout.base })
  return plannedComponents.flatMap(({ name, service }): ServiceRunObservation[] => {
    const unit = observed.find(({ component }) => component === name)?.unit
    if (service?.supervisor !== 'scm' || unit === undefined) return []
    const { pid, restarts } = unit.state
    const program = processes.find(
      (one) => one.parent === pid && one.program.toLowerCase() === service.program.toLowerCase(),
    )
    return [{ name: service.name, process: pid, program: program?.id, restarts }]
  })
}
