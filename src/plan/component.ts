import { emptyComponent, type ComponentPlan } from '../contract/component-plan.ts'
import type { PlanContext } from './context.ts'

/** Plans one component of a host. Returns undefined if the host does not need the component. */
export type ComponentPlanner<S extends PlanContext> = (context: S) => ComponentPlan | undefined

type ComponentFields = Pick<ComponentPlan, 'name' | 'stage'> & Partial<ComponentPlan>

/** Builds a component plan. Omitted fields get empty values. */
export function buildComponentPlan(fields: ComponentFields): ComponentPlan {
  return { ...emptyComponent(), ...fields }
}
