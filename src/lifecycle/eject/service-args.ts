import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Args } from '../../plan/args.ts'
import { parseUnitFlags } from '../../plan/linux/unit.ts'

export function findPlannedComponent({ components }: NodePlan, name: string): ComponentPlan | undefined {
  return components.find((component) => component.name === name)
}

/** Reads the flags in the planned unit of a component. */
export function readServiceArgs(plan: NodePlan, component: string): Args {
  const service = findPlannedComponent(plan, component)?.service
  if (service?.supervisor !== 'systemd') return {}
  return parseUnitFlags(service.unit)
}
