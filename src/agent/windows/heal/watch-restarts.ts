import type { NodePlan } from '../../../contract/node-plan.ts'
import { serviceRestartsFormat } from '../../../contract/service-restarts.ts'
import { readState, writeState } from '../../apply/state-file.ts'
import type { ComponentSeen } from '../../heal/decision/component-observation.ts'
import { elapsed } from '../../heal/decision/elapsed.ts'
import type { WindowsHost } from '../../host/host.ts'
import { countRestarts, type LifeSeen, type Lives, livesFrom } from './count-restarts.ts'

/** Beside all else that an agent knows, for whoever asks the host without it. */
export const restartsFile = 'restarts.json'

/** To list processes is slow on Windows; in milliseconds. */
const every = 30_000

export interface RestartWatch {
  /** What was seen of a plan's services. */
  look(plan: NodePlan, components: readonly ComponentSeen[]): Promise<void>
  of(service: string): number
}

export function watchRestarts(host: WindowsHost): RestartWatch {
  let lives: Lives | undefined
  let looked: number | undefined
  return {
    async look(plan, components) {
      const now = host.clock.now().getTime()
      if (looked !== undefined && elapsed(looked, now) < every) return
      looked = now
      const before = (lives ??= livesFrom(
        (await readState(host, restartsFile, serviceRestartsFormat))?.services ?? {},
      ))
      lives = countRestarts(before, await livesOf(host, plan, components))
      if ([...lives].every(([name, { total }]) => total === (before.get(name)?.total ?? 0))) return
      await writeState(host, restartsFile, {
        apiVersion: 'hyperkube.dev/v1',
        kind: 'ServiceRestarts',
        services: Object.fromEntries([...lives].map(([name, { total }]) => [name, total])),
      })
    },
    of: (service) => lives?.get(service)?.total ?? 0,
  }
}

async function livesOf(
  { operations, layout }: WindowsHost,
  { components: planned }: NodePlan,
  seen: readonly ComponentSeen[],
): Promise<LifeSeen[]> {
  const processes = await operations.processes.list({ below: layout.base })
  return planned.flatMap(({ name, service }): LifeSeen[] => {
    const unit = seen.find(({ component }) => component === name)?.unit
    if (service?.supervisor !== 'scm' || unit === undefined) return []
    const { pid, restarts } = unit.state
    const program = processes.find(
      (one) => one.parent === pid && one.program.toLowerCase() === service.program.toLowerCase(),
    )
    return [{ name: service.name, process: pid, program: program?.id, restarts }]
  })
}
