import type { ComponentHealth, HealAction, HealState } from '../../../contract/health.ts'
import type { ComponentObservation } from './component-observation.ts'
import type { EscalationPolicy, HealBudget } from './escalation-policy.ts'
import type { Escalation } from './escalation.ts'

/** Everything on which a healing decision depends. */
export interface DecisionInput {
  /** Milliseconds since 1970. */
  readonly now: number
  /** Time at which the agent began to observe the host, in milliseconds since 1970. */
  readonly observedSince: number
  readonly components: readonly ComponentObservation[]
  readonly healState: HealState
  readonly policy: EscalationPolicy
  readonly budget: HealBudget
  /** Reason why nothing may be healed now, if there is one. */
  readonly suspended?: { readonly because: string; readonly code?: string } | undefined
}

/** Input of the decision for one component. */
export interface ComponentDecisionInput extends DecisionInput {
  readonly observed: ComponentObservation
  /** All components (key: name). */
  readonly byName: ReadonlyMap<string, ComponentObservation>
  /** Number of disruptive steps that the budget still allows. */
  readonly budgetLeft: number
  /**
   * True if this round already has a disruptive step. Other disruptive steps then wait for the next round.
   */
  readonly hasDisruption: boolean
}

/** Health to report for a component, and steps to perform. */
export interface ComponentDecision {
  readonly state: ComponentHealth['state']
  readonly because?: string
  readonly code?: string
  readonly steps?: readonly HealStep[]
  readonly notices?: readonly HealAction[]
  /** Undefined if nothing must be stored for the component. */
  readonly escalation: Escalation | undefined
}

/** Actions to perform now on one component, in order. */
export interface HealStep {
  readonly component: string
  readonly actions: readonly HealAction['action'][]
  /** What was observed, as text for people. */
  readonly because: string
  readonly code?: string
}

/** True if the step interrupts a running service. Such a step counts against the budget of the host. */
export function isDisruptive({ actions }: HealStep): boolean {
  return actions.includes('restart')
}
