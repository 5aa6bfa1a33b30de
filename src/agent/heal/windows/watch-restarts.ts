import type { NodePlan } from '../../../contract/node-plan.ts'
import { serviceRestartsFormat } from '../../../contract/windows-state.ts'
import { readState, writeState } from '../../records/state-file.ts'
import type { WindowsHost } from '../../host/host.ts'
import type { ComponentObservation } from '../decision/component-observation.ts'
import { elapsed } from '../decision/elapsed.ts'

/**
 * Name of the file with the restart counts, in the agent's state directory. An operator's call through a
 * remote shell reads this file even if the agent does not run.
 */
export const restartsFile = 'restarts.json'

/** Milliseconds between observations. Listing processes is slow on Windows. */
const intervalMs = 30_000

export interface RestartWatch {
  /** Updates the restart counts from an observation of a plan's services. */
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

/** One observation of a service. */
export interface ServiceRunObservation {
  readonly name: string
  /** Id of the process that the service manager started; 0 if there is none. */
  readonly process: number
  /**
   * Process id of the program that a service wrapper has started. Undefined if the program does not run or
   * the service has no wrapper.
   */
  readonly program: number | undefined
  /** Restarts by the service manager since this agent started. */
  readonly restarts: number
}

/** Total restarts and last observation of each service (key: service name). */
type RestartCounts = ReadonlyMap<string, { readonly total: number; readonly last?: ServiceRunObservation }>

/**
 * Counts restarts that hyperkube did not request: by the service manager, or by a wrapper that restarts its
 * program. Several restarts of a program between two observations count as one.
 */
export function countRestarts(
  previous: RestartCounts,
  observed: readonly ServiceRunObservation[],
): RestartCounts {
  const now = observed.map((one) => {
    const { total = 0, last } = previous.get(one.name) ?? {}
    if (last === undefined) return [one.name, { total, last: one }] as const
    const isSame = last.process === one.process
    const program = one.program ?? (isSame ? last.program : undefined)
    const byRunner = isSame && last.program !== undefined && program !== last.program
    const byManager = Math.max(0, one.restarts - last.restarts)
    return [one.name, { total: total + byManager + Number(byRunner), last: { ...one, program } }] as const
  })
  return new Map([...previous, ...now])
}

/**
 * Converts stored totals to counts. `last` is left out, because a new agent has not observed the services
 * yet.
 */
export function toRestartCounts(totals: Readonly<Record<string, number>>): RestartCounts {
  return new Map(Object.entries(totals).map(([name, total]) => [name, { total }]))
}
