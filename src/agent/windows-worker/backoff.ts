import { formatStepKey, type ReconcileStep } from './step.ts'
import type { ReconcileState, StepAttempt, WorkerRole } from './worker.ts'

/** Delays between attempts of the same step. */
export interface StepBackoff {
  readonly name: 'default' | 'legacy-script'
  /**
   * Milliseconds to wait after the first, second, … attempt. The last value also applies to all further
   * attempts.
   */
  readonly delays: readonly number[]
  /** Policies that replace `delays` for starts of these programs. */
  readonly startPolicies: Readonly<Partial<Record<WorkerRole, StartPolicy>>>
  /**
   * Number of failed starts after which the connection to the API is reopened. Undefined if it is never
   * reopened.
   */
  readonly reopenAfter: number | undefined
  /** True if healing of a component ends after a number of rounds without success. */
  readonly isLimited: boolean
}

/** A series of attempts to start a program. */
export interface StartPolicy {
  /** Milliseconds to wait after each attempt. After the last attempt the series begins again. */
  readonly delays: readonly number[]
  /**
   * Milliseconds after the last attempt of a series. If the program has not started by then, it is reported
   * as given up.
   */
  readonly giveUpAfter: number
}

/** A new step runs at once and is then repeated at growing intervals. */
export const defaultBackoff: StepBackoff = {
  name: 'default',
  delays: [5000, 10_000, 20_000, 40_000, 80_000, 120_000],
  startPolicies: {},
  reopenAfter: undefined,
  isLimited: true,
}

/**
 * Builds a policy like that of the script hyperkube.ps1 (2018). The script made six attempts at a fixed
 * interval, and was run again after a pause of two minutes.
 */
function sixAttempts(seconds: number): StartPolicy {
  const delay = seconds * 1000
  return { delays: [...Array.from({ length: 5 }, () => delay), 120_000], giveUpAfter: delay }
}

/**
 * Backoff of the script hyperkube.ps1 (2018). The script reopened the connection to the API when three
 * attempts were left. It reported a failure when all attempts had failed.
 */
export const legacyScriptBackoff: StepBackoff = {
  ...defaultBackoff,
  name: 'legacy-script',
  startPolicies: { flanneld: sixAttempts(20), kubelet: sixAttempts(15), 'kube-proxy': sixAttempts(10) },
  reopenAfter: 3,
  // The script never stopped trying. It reported every failed series instead.
  isLimited: false,
}

export const stepBackoffs = {
  default: defaultBackoff,
  'legacy-script': legacyScriptBackoff,
} as const satisfies Record<StepBackoff['name'], StepBackoff>

/** Milliseconds without an attempt after which a step counts as new. */
export const forgetAfterMs = 600_000

export interface BackoffContext {
  readonly state: Pick<ReconcileState, 'tries'>
  readonly backoff?: StepBackoff
}

/** Returns the earliest time of the next attempt of a step. */
export function findNextAttemptTime(
  { state, backoff = defaultBackoff }: BackoffContext,
  step: ReconcileStep,
): number {
  const previous = state.tries[formatStepKey(step)]
  if (previous === undefined) return 0
  const startPolicy = step.do === 'start' ? backoff.startPolicies[step.role]?.delays : undefined
  const attempt =
    startPolicy === undefined
      ? Math.min(previous.count, backoff.delays.length)
      : wrapCount(previous.count, startPolicy.length)
  return previous.last + ((startPolicy ?? backoff.delays)[attempt - 1] ?? 0)
}

/** Returns the step that reports a failed series of starts, if that report is due. */
export function findGiveUpStep(
  { state, backoff = defaultBackoff, now }: BackoffContext & { readonly now: number },
  step: ReconcileStep,
): ReconcileStep | undefined {
  const startPolicy = step.do === 'start' ? backoff.startPolicies[step.role] : undefined
  if (step.do !== 'start' || startPolicy === undefined) return undefined
  const previous = state.tries[formatStepKey(step)]
  if (
    previous === undefined ||
    wrapCount(previous.count, startPolicy.delays.length) !== startPolicy.delays.length
  )
    return undefined
  if (now < previous.last + startPolicy.giveUpAfter) return undefined
  return unlessTakenSince(state, previous, { do: 'give-up', role: step.role })
}

/**
 * Returns `step` unless it was already taken after the given attempt. The attempt is the last start of the
 * program.
 */
function unlessTakenSince(
  state: BackoffContext['state'],
  { last }: StepAttempt,
  step: ReconcileStep,
): ReconcileStep | undefined {
  return (state.tries[formatStepKey(step)]?.last ?? -1) >= last ? undefined : step
}

/** Returns the `reopen` step if the number of failed starts requires it before the next start. */
export function findReopenStep(
  { state, backoff = defaultBackoff }: BackoffContext,
  step: ReconcileStep,
): ReconcileStep | undefined {
  const startPolicy = step.do === 'start' ? backoff.startPolicies[step.role] : undefined
  if (step.do !== 'start' || startPolicy === undefined) return undefined
  const previous = state.tries[formatStepKey(step)]
  if (previous === undefined || wrapCount(previous.count, startPolicy.delays.length) !== backoff.reopenAfter)
    return undefined
  return unlessTakenSince(state, previous, { do: 'reopen', role: step.role })
}

/** Maps a growing count to the repeating sequence 1 to max. */
function wrapCount(count: number, max: number): number {
  return ((count - 1) % max) + 1
}

/**
 * Records an attempt. Called before the attempt, so that an agent that crashes during the attempt does not
 * retry at once.
 */
export function recordAttempt(state: ReconcileState, step: ReconcileStep, now: number): ReconcileState {
  const recent = Object.entries(state.tries).filter(([, { last }]) => now - last < forgetAfterMs)
  const tries: Record<string, StepAttempt> = Object.fromEntries(recent)
  const key = formatStepKey(step)
  tries[key] = { count: (tries[key]?.count ?? 0) + 1, last: now }
  return { ...state, tries }
}
