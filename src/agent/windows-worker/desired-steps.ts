import type { StepBackoff } from './backoff.ts'
import type { ReconcileStep } from './step.ts'
import type { ReconcileState, WorkerObservation, WorkerSpec } from './worker.ts'

/** Input for the decision about the next step. */
export interface ReconcileContext {
  readonly spec: WorkerSpec
  readonly observed: WorkerObservation
  readonly state: ReconcileState
  readonly now: number
  /** If undefined, the default backoff applies. */
  readonly backoff?: StepBackoff
  /** Components that are left alone, because healing them is exhausted. */
  readonly exhausted?: ReadonlySet<string> | undefined
}

export type DesiredStep =
  /** If a blocking step must wait for its backoff, all later steps wait too. */
  | { readonly step: ReconcileStep; readonly blocking: boolean }
  /** The worker must wait for this condition; later steps are not considered. */
  | { readonly wait: string }

/** Steps that a host needs, in order. */
export type DesiredSteps = Generator<DesiredStep, void>
