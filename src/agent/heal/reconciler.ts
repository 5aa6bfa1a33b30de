import type {
  ComponentHealth,
  HealAction,
  HealState,
  HostHealth,
  ResourceDrift,
} from '../../contract/health.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { ComponentObservation, DataRisk } from './decision/component-observation.ts'
import type { Suspension } from './suspension.ts'

/**
 * The part of healing that differs between operating systems: deciding on steps and performing them. The
 * healer (`healer.ts`) contains the common part: the loop, the suspension, the heal state and the report.
 */
export interface HealReconciler {
  /** Name of the heal policy in health reports. */
  readonly policy: HostHealth['healPolicy']
  /**
   * True if a change starts a round at once instead of at the usual interval. Such a change is a new state of
   * a probe, or a pause that begins or ends.
   */
  readonly wakesOnChange: boolean
  detectDrift(plan: NodePlan): Promise<DriftObservation>
  findDataRisks(plan: NodePlan): Promise<ReadonlyMap<string, DataRisk>>
  /** True if the next round must read the units again, because a component is being healed. */
  needsUnits(healState: HealState): boolean
  /** Does work that is needed in every round, even while healing is suspended. Never throws. */
  maintain(observed: PlanObservation): Promise<void>
  decide(input: RoundInput): HealRound
  assess(input: AssessmentInput): HealthAssessment
}

/** Resources that differ from the applied plan (key: component name). */
export interface DriftObservation {
  readonly repairable: ReadonlyMap<string, readonly Pick<Op, 'name'>[]>
  readonly unrepairable: ReadonlyMap<string, readonly ResourceDrift[]>
  /** Components whose services an operator stopped with hyperkube. */
  readonly stopped: ReadonlySet<string>
}

/** The applied plan, its digest and what is known about its components. */
export interface PlanObservation {
  readonly plan: NodePlan
  readonly digest: string
  readonly components: readonly ComponentObservation[]
}

interface HealingInput {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly healState: HealState
  /** Reason why nothing may be healed now, if there is one. */
  readonly suspended: Suspension | undefined
}

export interface RoundInput extends HealingInput {
  readonly observed: PlanObservation
}

export interface AssessmentInput extends HealingInput {
  readonly components: readonly ComponentObservation[]
}

/** What one round must do. */
export interface HealRound {
  /** New heal state. The healer writes it before any step. */
  readonly healState: HealState
  /** Actions that are only reported. `healState` already includes their effects. */
  readonly notices: readonly HealAction[]
  readonly steps: readonly RoundStep[]
}

export interface RoundStep {
  /** Performs the step as a journaled run. An error ends the round and is logged. */
  perform(signal: AbortSignal): Promise<RoundStepResult>
}

export interface RoundStepResult {
  /**
   * Actions to record and report. Empty if an operator had claimed the host or another plan was applied
   * before the step.
   */
  readonly actions: readonly HealAction[]
  /** True if the drift must be checked again before the next round. */
  readonly mayHaveChangedHost: boolean
  /** Changes to the heal state in addition to the recorded actions. */
  readonly updateState?: (before: HealState) => HealState
}

export interface HealthAssessment {
  readonly components: readonly ComponentHealth[]
  readonly budget: HostHealth['budget']
}
