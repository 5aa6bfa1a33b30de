import type { StepBackoff } from './backoff.ts'
import type { WorkerObservation, ReconcileState } from './worker-observation.ts'
import type { ReconcileStep } from './step.ts'
import type { WorkerSpec } from './worker-spec.ts'

/** The data on which the next step is decided. */
export interface ReconcileContext {
  readonly spec: WorkerSpec
  readonly observed: WorkerObservation
  readonly state: ReconcileState
  readonly now: number
  /** The default backoff unless another was chosen. */
  readonly backoff?: StepBackoff
}

export type DesiredStep =
  /** A blocking step that is in its backoff keeps all later steps waiting. */
  | { readonly step: ReconcileStep; readonly blocking: boolean }
  /** Only waiting is left; later steps are not considered. */
  | { readonly wait: string }

/** Desired steps for a host, in order. */
export type DesiredSteps = Generator<DesiredStep, void>
