import type { ResourceDrift, HealAction } from '../../contract/health.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { DataRisk } from './decision/component-observation.ts'
import type { HealStep } from './decision/heal-step.ts'
import type { RunProbe } from './probe-result.ts'

/** Resources that differ from the applied plan (key: component name). */
export interface DriftObservation {
  readonly repairable: ReadonlyMap<string, readonly Pick<Op, 'name'>[]>
  readonly unrepairable: ReadonlyMap<string, readonly ResourceDrift[]>
  /** Components whose services an operator stopped with hyperkube. */
  readonly stopped: ReadonlySet<string>
}

/** Operations with which healing observes and changes a host. */
export interface HealOperations {
  readonly runProbe: RunProbe
  detectDrift(plan: NodePlan): Promise<DriftObservation>
  findDataRisks(plan: NodePlan): Promise<ReadonlyMap<string, DataRisk>>
  /**
   * Performs a step in a separate run. Failures are in the returned actions. Returns no actions if an
   * operator or another run was first.
   */
  perform(plan: NodePlan, step: HealStep, signal: AbortSignal): Promise<readonly HealAction[]>
  /** Reports an action. It neither waits nor fails. */
  report(action: HealAction): void
}
