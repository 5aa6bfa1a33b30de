import type { Drift, HealAction } from '../../contract/health.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import type { Danger } from './decision/component-observation.ts'
import type { HealStep } from './decision/heal-step.ts'
import type { AskProbe } from './probe-result.ts'

/** What of a plan is not as it was put there, by component. */
export interface DriftSeen {
  readonly putBack: ReadonlyMap<string, readonly Pick<Op, 'name'>[]>
  readonly beyond: ReadonlyMap<string, readonly Drift[]>
  /** Those whose services an operator has stopped through us. */
  readonly stopped: ReadonlySet<string>
}

/** What healing sees with, and acts with. */
export interface Hands {
  readonly ask: AskProbe
  lookAtDrift(plan: NodePlan): Promise<DriftSeen>
  dangersOf(plan: NodePlan): Promise<ReadonlyMap<string, Danger>>
  /** As a run of its own. Whatever fails is in the answer; an answer without actions says that somebody else came before. */
  perform(plan: NodePlan, step: HealStep, signal: AbortSignal): Promise<readonly HealAction[]>
  /** Tells whoever wants to know: never waits, never fails. */
  tell(action: HealAction): void
}
