import type { StepAttempt, ReconcileState } from './worker-observation.ts'
import { type ReconcileStep, formatStepKey } from './step.ts'
import type { WorkerRole } from './worker-spec.ts'

/** How soon a step is repeated. */
export interface StepBackoff {
  readonly name: 'usual' | 'seed'
  /** Milliseconds after the first, the second and every further attempt. */
  readonly delays: readonly number[]
  /** Policies that replace these delays when a program is started. */
  readonly startPolicies: Readonly<Partial<Record<WorkerRole, StartPolicy>>>
  /** Number of failed starts after which the connection to the API is reopened. */
  readonly reopenAfter: number | undefined
}

/** A series of attempts to start a program. */
export interface StartPolicy {
  /** Milliseconds after each attempt. After the last one the series begins again. */
  readonly delays: readonly number[]
  /** Milliseconds after the last attempt until the program is reported as given up. */
  readonly giveUpAfter: number
}

/** Runs a new step at once, then repeats it at growing intervals. */
export const defaultBackoff: StepBackoff = {
  name: 'usual',
  delays: [5000, 10_000, 20_000, 40_000, 80_000, 120_000],
  startPolicies: {},
  reopenAfter: undefined,
}

/**
 * Six attempts at a fixed interval, then a pause of the length after which the script would have run again.
 */
function sixAttempts(seconds: number): StartPolicy {
  const delay = seconds * 1000
  return { delays: [...Array.from({ length: 5 }, () => delay), 120_000], giveUpAfter: delay }
}

/**
 * The policy of the original script: it reopens the connection to the API when three attempts are left and
 * reports when none is left.
 */
export const legacyScriptBackoff: StepBackoff = {
  ...defaultBackoff,
  name: 'seed',
  startPolicies: { flanneld: sixAttempts(20), kubelet: sixAttempts(15), 'kube-proxy': sixAttempts(10) },
  reopenAfter: 3,
}

export const stepBackoffs = { usual: defaultBackoff, seed: legacyScriptBackoff } as const satisfies Record<
  StepBackoff['name'],
  StepBackoff
>

/** After this time without an attempt a step counts as new. */
export const forgetAfterMs = 600_000

export interface BackoffContext {
  readonly state: Pick<ReconcileState, 'tries'>
  readonly backoff?: StepBackoff
}

/** The time at which a step may be taken again. */
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

/** The step that reports that all starts of a series failed. */
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

/** Returns the step unless it was taken after the previous attempt. */
function unlessTakenSince(
  state: BackoffContext['state'],
  { last }: StepAttempt,
  step: ReconcileStep,
): ReconcileStep | undefined {
  return (state.tries[formatStepKey(step)]?.last ?? -1) >= last ? undefined : step
}

/** The step that comes before a start after so many failed attempts. */
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

/** Maps a growing count to 1..max, again and again. */
function wrapCount(count: number, max: number): number {
  return ((count - 1) % max) + 1
}

/** Records a step before it is tried, so that an agent that crashes does not retry at once. */
export function recordAttempt(state: ReconcileState, step: ReconcileStep, now: number): ReconcileState {
  const recent = Object.entries(state.tries).filter(([, { last }]) => now - last < forgetAfterMs)
  const tries: Record<string, StepAttempt> = Object.fromEntries(recent)
  const key = formatStepKey(step)
  tries[key] = { count: (tries[key]?.count ?? 0) + 1, last: now }
  return { ...state, tries }
}
