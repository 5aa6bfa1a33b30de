import type { ResourceDrift, HealAction } from '../../contract/health.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { DataRisk } from './decision/component-observation.ts'
import type { HealStep } from './decision/heal-step.ts'
import type { RunProbe } from './probe-result.ts'

/** Resources that differ from the applied plan, by component. */
export interface DriftObservation {
  readonly repairable: ReadonlyMap<string, readonly Pick<Op, 'name'>[]>
  readonly unrepairable: ReadonlyMap<string, readonly ResourceDrift[]>
  /** Components whose services an operator has stopped through hyperkube. */
  readonly stopped: ReadonlySet<string>
}

/** The operations that healing uses to observe and change a host. */
export interface HealOperations {
  readonly runProbe: RunProbe
  detectDrift(plan: NodePlan): Promise<DriftObservation>
  findDataRisks(plan: NodePlan): Promise<ReadonlyMap<string, DataRisk>>
  /**
   * Performs a step in a run of its own. Failures are in the returned actions; no actions means that another
   * operator or run came first.
   */
  perform(plan: NodePlan, step: HealStep, signal: AbortSignal): Promise<readonly HealAction[]>
  /** Reports an action: never waits, never fails. */
  report(action: HealAction): void
}
