import { formatDuration } from '../../../kit/duration.ts'
import { isDown } from '../../host/systemd.ts'
import type { ComponentDecisionInput, ComponentDecision } from './decision-input.ts'
import {
  startEscalation,
  recoverEscalation,
  type Escalation,
  advanceEscalation,
  findDueStep,
  resumeEscalation,
} from './escalation.ts'
import type { ComponentObservation, DataRisk } from './component-observation.ts'
import { type ComponentCondition, assessComponent } from './component-condition.ts'
import { elapsed } from './elapsed.ts'
import { findBlocker } from './blocked-by.ts'
import { selectStartGrace } from './escalation-policy.ts'
import { listDependencies } from './dependency-order.ts'
import { isDisruptive } from './heal-step.ts'
import { buildRepairStep, buildSteps } from './build-steps.ts'
import { reportExhausted, reportUnrepairable, reportRecovery, reportRefusal } from './notices.ts'

type UnhealthyCondition = Extract<ComponentCondition, { state: 'unhealthy' }>

export function decideComponent(input: ComponentDecisionInput): ComponentDecision {
  const { observed, healState, now } = input
  const condition = assessComponent(observed, now)
  const escalation = healState.escalations[observed.component]
  if (observed.dataRisk !== undefined) return refuseDataRisk(input, observed.dataRisk, escalation)
  const decision =
    condition.state === 'unhealthy'
      ? decideUnhealthy(
          input,
          condition,
          escalation === undefined
            ? startEscalation(condition.since)
            : resumeEscalation(escalation, condition.since),
        )
      : decideNotUnhealthy(input, condition, escalation)
  const { steps = [], notices = [] } = decision
  return {
    ...decision,
    steps: steps.length === 0 ? buildRepairStep(input) : steps,
    notices: [...notices, ...reportUnrepairable(input)],
  }
}

function decideUnhealthy(
  input: ComponentDecisionInput,
  { because, code, since: _since }: UnhealthyCondition,
  escalation: Escalation,
): ComponentDecision {
  const { observed, byName, suspended, now, policy, budgetLeft, hasDisruption } = input
  const reason = { because, ...(code === undefined ? {} : { code }) }
  if (observed.stoppedByOperator === true)
    return { state: 'blocked', because: 'an operator has stopped its service', escalation }
  if (suspended !== undefined) return { state: 'blocked', ...reason, ...suspended, escalation }
  const grace = policy.startupMs + observed.slowestProbeMs
  const blocker = findBlocker(observed, code, listDependencies(observed, byName), grace, now)
  if (blocker !== undefined) return { state: 'blocked', ...reason, because: blocker, escalation }
  const startGrace = selectStartGrace(policy, observed.component, grace)
  const step = isStarting(observed, startGrace, now)
    ? undefined
    : findDueStep(policy, observed.component, escalation, startGrace, now)
  if (step === undefined) return { ...toDecisionState(escalation, reason), escalation }
  const steps = buildSteps(input, step, reason, startGrace)
  const disruptions = steps.filter(isDisruptive).length
  if (disruptions > 0 && hasDisruption) return { ...toDecisionState(escalation, reason), escalation }
  if (disruptions > budgetLeft) return refuseOverBudget(input, escalation)
  const next = advanceEscalation(escalation, step, now)
  const notices = step.actions.includes('give-up') ? [reportExhausted(input, because)] : []
  return { ...toDecisionState(next, reason), steps, notices, escalation: next }
}

/** True while systemd may still be starting or stopping the service. */
function isStarting({ unit }: ComponentObservation, startGrace: number, now: number): boolean {
  if (unit === undefined || isDown(unit.state)) return false
  const since = unit.state.active === 'deactivating' ? unit.changed : unit.neverHealthySince
  return elapsed(since, now) < startGrace
}

function toDecisionState(
  escalation: Escalation,
  reason: Pick<ComponentDecision, 'because' | 'code'>,
): Omit<ComponentDecision, 'escalation'> {
  if (escalation.exhausted) return { state: 'exhausted', ...reason, code: 'HEAL_EXHAUSTED' }
  return { state: escalation.lastStepAt === undefined ? 'unhealthy' : 'healing', ...reason }
}

function refuseOverBudget(input: ComponentDecisionInput, escalation: Escalation): ComponentDecision {
  const { max, windowMs } = input.budget
  const because = `this host was disturbed ${max} times within ${formatDuration(windowMs)}, which is enough`
  const refusal = { code: 'HEAL_BUDGET_SPENT', because }
  return { state: 'blocked', ...refusal, notices: reportRefusal(input, refusal, windowMs), escalation }
}

function decideNotUnhealthy(
  input: ComponentDecisionInput,
  { state }: ComponentCondition,
  escalation: Escalation | undefined,
): ComponentDecision {
  if (escalation === undefined) return { state: 'healthy', escalation }
  if (state === 'healthy')
    return {
      state,
      notices: reportRecovery(input, escalation),
      escalation: recoverEscalation(escalation, input.now),
    }
  if (escalation.recoveredAt !== undefined || (escalation.lastStepAt === undefined && !escalation.exhausted))
    return { state: 'healthy', escalation }
  return { ...toDecisionState(escalation, {}), escalation }
}

/** Decides to leave the component untouched, because any action would risk data. */
function refuseDataRisk(
  input: ComponentDecisionInput,
  risk: DataRisk,
  escalation: Escalation = startEscalation(input.now),
): ComponentDecision {
  const { code, because } = risk
  return { state: 'blocked', code, because, notices: reportRefusal(input, risk), escalation }
}
