import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { DiskObservation } from './watch-drift.ts'
import type { ComponentObservation, ProbeObservation } from './decision/component-observation.ts'
import type { UnitObservation } from './decision/unit-observation.ts'

/** Combines probes, units and drift into one observation per component, in the order of the plan. */
export function observeComponents(
  components: readonly ComponentPlan[],
  probes: readonly ProbeObservation[],
  units: ReadonlyMap<string, UnitObservation>,
  { drift, dataRisks }: DiskObservation,
): ComponentObservation[] {
  return components.map(({ name, needs, probes: planned }) => {
    const [unit, dataRisk] = [units.get(name), dataRisks.get(name)]
    const local = planned.filter(({ scope }) => scope === 'local')
    return {
      component: name,
      needs,
      probes: probes.filter(({ component }) => component === name),
      slowestProbeMs: Math.max(
        0,
        ...local.map(({ failureThreshold, intervalMs }) => failureThreshold * intervalMs),
      ),
      drifted: (drift.repairable.get(name) ?? []).map((op) => op.name),
      unrepairable: drift.unrepairable.get(name) ?? [],
      stoppedByOperator: drift.stopped.has(name),
      ...(unit === undefined ? {} : { unit }),
      ...(dataRisk === undefined ? {} : { dataRisk }),
    }
  })
}
