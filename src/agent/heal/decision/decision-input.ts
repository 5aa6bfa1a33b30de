import type { HealState } from '../../../contract/heal-state.ts'
import type { ComponentHealth, HealAction } from '../../../contract/health.ts'
import type { HealBudget } from './budget.ts'
import type { Escalation } from './escalation.ts'
import type { ComponentObservation } from './component-observation.ts'
import type { EscalationPolicy } from './escalation-policy.ts'
import type { HealStep } from './heal-step.ts'

/** Everything a healing decision depends on. */
export interface DecisionInput {
  /** Milliseconds since 1970. */
  readonly now: number
  /** When observation began: milliseconds since 1970. */
  readonly observedSince: number
  readonly components: readonly ComponentObservation[]
  readonly healState: HealState
  readonly policy: EscalationPolicy
  readonly budget: HealBudget
  /** Why nothing is healed at present, whatever is found. */
  readonly suspended?: { readonly because: string; readonly code?: string } | undefined
}

/** Input of the decision for one component. */
export interface ComponentDecisionInput extends DecisionInput {
  readonly observed: ComponentObservation
  /** All components, by name. */
  readonly byName: ReadonlyMap<string, ComponentObservation>
  /** How many disruptive steps the budget still allows. */
  readonly budgetLeft: number
  /** Whether a step of this round is already disruptive; the next one waits for the next round. */
  readonly hasDisruption: boolean
}

/** The health to report for a component, and the steps to take. */
export interface ComponentDecision {
  readonly state: ComponentHealth['state']
  readonly because?: string
  readonly code?: string
  readonly steps?: readonly HealStep[]
  readonly notices?: readonly HealAction[]
  /** Undefined if nothing must be stored for the component. */
  readonly escalation: Escalation | undefined
}
