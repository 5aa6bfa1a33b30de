import type { NodePlan } from '../../contract/node-plan.ts'
import type { Clock } from '../host/clock.ts'
import type { Systemd } from '../host/systemd.ts'
import { elapsed } from './decision/elapsed.ts'
import { nextUnit, type UnitSeen } from './decision/unit-observation.ts'

/** How old what is known may be, in milliseconds: to ask is a process of its own. */
const rest = { calm: 30_000, troubled: 10_000, news: 1000 } as const

export interface UnitWatch {
  /** By component. */
  readonly now: ReadonlyMap<string, UnitSeen>
  /** Asks about all at once, where the last answer is too old for how it is now. */
  look(plan: NodePlan, how: keyof typeof rest): Promise<void>
  /** A component was well since its service was started. */
  wasWell(component: string): void
}

export function watchUnits(systemd: Pick<Systemd, 'showAll'>, clock: Clock): UnitWatch {
  let units: ReadonlyMap<string, UnitSeen> = new Map()
  let looked: number | undefined
  return {
    get now() {
      return units
    },
    async look(plan, how) {
      const now = clock.now().getTime()
      const isNew = plan.components.some(({ name, service }) => service !== undefined && !units.has(name))
      if (!isNew && looked !== undefined && elapsed(looked, now) < rest[how]) return
      const services = plan.components.flatMap(({ name, service }) =>
        service === undefined ? [] : [{ component: name, unit: service.name }],
      )
      const states = await systemd.showAll(services.map(({ unit }) => unit))
      looked = now
      units = new Map(
        services.flatMap(({ component, unit }, index) => {
          const state = states[index]
          return state === undefined ? [] : [[component, nextUnit(unit, units.get(component), state, now)]]
        }),
      )
    },
    wasWell(component) {
      const unit = units.get(component)
      if (unit === undefined || unit.wasWell) return
      units = new Map(units).set(component, { ...unit, wasWell: true })
    },
  }
}
