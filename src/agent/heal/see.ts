import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { ThingsSeen } from './watch-drift.ts'
import type { ComponentSeen, ProbeSeen } from './decision/component-observation.ts'
import type { UnitSeen } from './decision/unit-observation.ts'

/** All that is known, by component, as the plan has them. */
export function seeComponents(
  components: readonly ComponentPlan[],
  probes: readonly ProbeSeen[],
  units: ReadonlyMap<string, UnitSeen>,
  { drift, dangers }: ThingsSeen,
): ComponentSeen[] {
  return components.map(({ name, needs, probes: planned }) => {
    const [unit, danger] = [units.get(name), dangers.get(name)]
    const local = planned.filter(({ scope }) => scope === 'local')
    return {
      component: name,
      needs,
      probes: probes.filter(({ component }) => component === name),
      slowest: Math.max(0, ...local.map(({ failures, every }) => failures * every)),
      drifted: (drift.putBack.get(name) ?? []).map((op) => op.name),
      beyond: drift.beyond.get(name) ?? [],
      stopped: drift.stopped.has(name),
      ...(unit === undefined ? {} : { unit }),
      ...(danger === undefined ? {} : { danger }),
    }
  })
}
