import { bareComponent, type ComponentPlan } from '../contract/component-plan.ts'
import type { Scene } from './context.ts'

/** Plans one component of a host, or nothing where the host has no use for it. */
export type Planner<S extends Scene> = (scene: S) => ComponentPlan | undefined

type Wish = Pick<ComponentPlan, 'name' | 'stage'> & Partial<ComponentPlan>

/** A component's plan, of which only what there is needs to be said. */
export function component(wish: Wish): ComponentPlan {
  return { ...bareComponent(), ...wish }
}
