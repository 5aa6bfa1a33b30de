import type { HealState } from '../../../contract/health.ts'
import { elapsed } from './elapsed.ts'
import { type EscalationPolicy, type EscalationStep, selectSteps } from './escalation-policy.ts'

export type Escalation = HealState['escalations'][string]

/**
 * If a component becomes unhealthy again within this many milliseconds after a recovery, its escalation
 * resumes. Without this rule, a flapping component would begin at step 0 each time.
 */
const relapseMs = 60_000

export function startEscalation(since: number): Escalation {
  return { since: new Date(since).toISOString(), step: 0, exhausted: false }
}

/** Returns the next step if it is due, otherwise undefined. */
export function findDueStep(
  policy: EscalationPolicy,
  component: string,
  escalation: Escalation,
  graceMs: number,
  now: number,
): EscalationStep | undefined {
  const step = escalation.exhausted
    ? policy.repeat
    : (selectSteps(policy, component)[escalation.step] ?? policy.repeat)
  if (escalation.lastStepAt === undefined) return step
  return elapsed(escalation.lastStepAt, now) >= Math.max(step.afterMs, graceMs) ? step : undefined
}

export function advanceEscalation(escalation: Escalation, step: EscalationStep, now: number): Escalation {
  return {
    ...escalation,
    step: escalation.exhausted ? escalation.step : escalation.step + 1,
    lastStepAt: new Date(now).toISOString(),
    exhausted: escalation.exhausted || step.actions.includes('give-up'),
  }
}

/**
 * Updates the escalation of a healthy component. Returns undefined if no step was performed, or once the
 * component has been healthy for `relapseMs`.
 */
export function recoverEscalation(escalation: Escalation, now: number): Escalation | undefined {
  if (escalation.lastStepAt === undefined) return undefined
  if (escalation.recoveredAt === undefined) return { ...escalation, recoveredAt: new Date(now).toISOString() }
  return elapsed(escalation.recoveredAt, now) < relapseMs ? escalation : undefined
}

/**
 * Continues the escalation of an unhealthy component. After a recovery, the escalation gets the start time
 * `since`.
 */
export function resumeEscalation({ recoveredAt, ...escalation }: Escalation, since: number): Escalation {
  return recoveredAt === undefined ? escalation : { ...escalation, since: new Date(since).toISOString() }
}
