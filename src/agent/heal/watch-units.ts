import type { NodePlan } from '../../contract/node-plan.ts'
import type { Clock } from '../host/clock.ts'
import type { Systemd } from '../host/systemd.ts'
import { elapsed } from './decision/elapsed.ts'
import { updateUnitObservation, type UnitObservation } from './decision/unit-observation.ts'

/** Maximum age of an observation in milliseconds. Queries are limited because each one starts a process. */
const maxAgeMs = { stable: 30_000, unstable: 10_000, news: 1000 } as const

export interface UnitWatch {
  /** Last observation of each unit (key: component name). */
  readonly current: ReadonlyMap<string, UnitObservation>
  /** Queries all units if the last query is too old for this mode. */
  refresh(plan: NodePlan, mode: keyof typeof maxAgeMs): Promise<void>
  /** Records that the component was healthy after the last start of its service. */
  markHealthy(component: string): void
}

export function watchUnits(systemd: Pick<Systemd, 'showAll'>, clock: Clock): UnitWatch {
  let units: ReadonlyMap<string, UnitObservation> = new Map()
  let refreshedAt: number | undefined
  return {
    get current() {
      return units
    },
    async refresh(plan, mode) {
      const now = clock.now().getTime()
      const isNew = plan.components.some(({ name, service }) => service !== undefined && !units.has(name))
      if (!isNew && refreshedAt !== undefined && elapsed(refreshedAt, now) < maxAgeMs[mode]) return
      const services = plan.components.flatMap(({ name, service }) =>
        service === undefined ? [] : [{ component: name, unit: service.name }],
      )
      const states = await systemd.showAll(services.map(({ unit }) => unit))
      refreshedAt = now
      units = new Map(
        services.flatMap(({ component, unit }, index) => {
          const state = states[index]
          return state === undefined
            ? []
            : [[component, updateUnitObservation(unit, units.get(component), state, now)]]
        }),
      )
    },
    markHealthy(component) {
      const unit = units.get(component)
      if (unit === undefined || unit.wasHealthy) return
      units = new Map(units).set(component, { ...unit, wasHealthy: true })
    },
  }
}
