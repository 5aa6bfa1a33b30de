import { defaultBackoff, recordAttempt, type StepBackoff } from './backoff.ts'
import { decideNextStep, type ReconcileDecision } from './decide-next-step.ts'
import { observeWorker } from './observe-worker.ts'
import { performReconcileStep } from './perform-step.ts'
import type { ReconcileDeps } from './reconcile-deps.ts'
import type { ReconcileStep } from './step.ts'
import type { ReconcileState, WorkerObservation, WorkerSpec } from './worker.ts'

/** Maximum number of steps in a round of reconciliation, so that every round ends. */
const maxSteps = 20

export interface ReconcileResult {
  /** The last observation. */
  readonly observed: WorkerObservation
  readonly state: ReconcileState
  /** The reason to wait at the end of the round, or `healthy` if nothing was left to do. */
  readonly decision: Exclude<ReconcileDecision, { readonly kind: 'step' }>
  readonly steps: readonly { readonly step: ReconcileStep; readonly error?: unknown }[]
}

/** Saves the state. Called before each step and after each start. */
export type SaveReconcileState = (state: ReconcileState) => Promise<void>

export interface ReconcileOptions {
  readonly backoff?: StepBackoff
  /** Components that are left alone, because healing them is exhausted. */
  readonly exhausted?: ReadonlySet<string> | undefined
  /** Performs a step. Callers pass their own function to report steps. */
  readonly runStep?: (step: ReconcileStep) => Promise<void>
}

/**
 * Runs one round of reconciliation: observes the host, performs the next step, and repeats both until no step
 * is due. A failed observation ends the round; the next round tries again.
 */
export async function reconcileOnce(
  deps: ReconcileDeps,
  spec: WorkerSpec,
  previous: ReconcileState,
  save: SaveReconcileState,
  {
    backoff = defaultBackoff,
    exhausted,
    runStep = async (step) => performReconcileStep(deps, spec, step),
  }: ReconcileOptions = {},
): Promise<ReconcileResult> {
  const steps: { step: ReconcileStep; error?: unknown }[] = []
  let state = previous
  for (;;) {
    deps.signal.throwIfAborted()
    const observation = await observeWorker(deps, spec, state)
    const now = deps.clock.now().getTime()
    const decision = decideNextStep({
      spec,
      observed: observation.observed,
      state: observation.state,
      now,
      backoff,
      exhausted,
    })
    state = observation.state
    if (decision.kind !== 'step') return { observed: observation.observed, state, decision, steps }
    const { step } = decision
    state = recordAttempt(state, step, now)
    await save(state)
    const error = await tryStep(async () => runStep(step))
    steps.push({ step, ...error })
    if (error === undefined && step.do === 'start') {
      const started = { basis: step.basis, at: now }
      state = { ...state, started: { ...state.started, [step.role]: started } }
      await save(state)
    }
    if (steps.length === maxSteps) {
      const { observed } = observation
      return { observed, state, decision: { kind: 'wait', reason: 'the next round' }, steps }
    }
  }
}

/**
 * Returns the error of a failed step, which is retried after its backoff. The round continues with other
 * steps.
 */
async function tryStep(work: () => Promise<void>): Promise<{ readonly error: unknown } | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    return { error }
  }
}
