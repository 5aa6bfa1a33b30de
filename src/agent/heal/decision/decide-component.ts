import { formatDuration } from '../../../kit/time-format.ts'
import { isDown } from '../../host/service-manager.ts'
import { reportExhausted, reportRecovery, reportRefusal, reportUnrepairable } from './action-history.ts'
import { findBlocker, listDependencies } from './dependencies.ts'
import {
  assessComponent,
  type ComponentCondition,
  type DataRisk,
  isCrashLooping,
  type UnitObservation,
} from './component-observation.ts'
import {
  type ComponentDecision,
  type ComponentDecisionInput,
  type HealStep,
  isDisruptive,
} from './decision-input.ts'
import { elapsed } from './elapsed.ts'
import { type EscalationStep, selectStartGrace } from './escalation-policy.ts'
import { canRepair } from './repair-limits.ts'
import {
  advanceEscalation,
  type Escalation,
  findDueStep,
  recoverEscalation,
  resumeEscalation,
  startEscalation,
} from './escalation.ts'

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
  { because, code, isConfirmedHang = false }: UnhealthyCondition,
  escalation: Escalation,
): ComponentDecision {
  const { observed, byName, suspended, now, policy, budgetLeft, hasDisruption } = input
  const reason = { because, ...(code === undefined ? {} : { code }) }
  if (observed.stoppedByOperator === true)
    return { state: 'blocked', because: 'an operator stopped the service', escalation }
  if (suspended !== undefined) return { state: 'blocked', ...reason, ...suspended, escalation }
  const { unit } = observed
  const isHung = isConfirmedHang && unit !== undefined && unit.wasHealthy && unit.state.active === 'active'
  const grace = policy.startupMs + observed.slowestProbeMs
  const blocker = findBlocker(observed, { code, isHung }, listDependencies(observed, byName), grace, now)
  if (blocker !== undefined) return { state: 'blocked', ...reason, because: blocker, escalation }
  const startGrace = selectStartGrace(policy, observed.component, grace)
  const isBusy = code === 'HEALTH_NO_RESPONSE' && !isConfirmedHang && startGrace > 0
  const limits = { startGrace, maxStart: isBusy ? Math.max(startGrace, policy.busyStartupMs) : startGrace }
  const step =
    !isHung && isStarting(unit, limits, now)
      ? undefined
      : findDueStep(policy, observed.component, escalation, startGrace, now)
  if (step === undefined) return { ...toDecisionState(escalation, reason), escalation }
  const canRestart = unit !== undefined && (isHung || !isCrashLooping(unit, startGrace, now))
  const steps = buildSteps(input, step, reason, canRestart)
  const disruptions = steps.filter(isDisruptive).length
  if (disruptions > 0 && hasDisruption) return { ...toDecisionState(escalation, reason), escalation }
  if (disruptions > budgetLeft) return refuseOverBudget(input, escalation)
  const next = advanceEscalation(escalation, step, now)
  const notices = step.actions.includes('give-up') ? [reportExhausted(input, because)] : []
  return { ...toDecisionState(next, reason), steps, notices, escalation: next }
}

/** Limits of the time that a start may take, in milliseconds. */
interface StartLimits {
  readonly startGrace: number
  /**
   * Limit for the first process since the service was last healthy. If that process exits, `startGrace`
   * applies to the processes after it.
   */
  readonly maxStart: number
}

/** True if a service still has time to stop, or to become healthy after its start. */
function isStarting(
  unit: UnitObservation | undefined,
  { startGrace, maxStart }: StartLimits,
  now: number,
): boolean {
  if (unit === undefined || isDown(unit.state)) return false
  if (unit.state.active === 'deactivating') return elapsed(unit.changed, now) < startGrace
  const isFirstProcess = unit.started === unit.neverHealthySince && !unit.wasHealthy
  return elapsed(unit.neverHealthySince, now) < (isFirstProcess ? maxStart : startGrace)
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
  const because = `healing rate limit reached: ${max} actions within ${formatDuration(windowMs)}`
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

/**
 * Adapts an escalation step to the component: adds the repair of drift and removes actions that would not
 * help.
 */
function buildSteps(
  { observed }: ComponentDecisionInput,
  escalationStep: EscalationStep,
  reason: Pick<HealStep, 'because' | 'code'>,
  canRestart: boolean,
): HealStep[] {
  const { component, drifted } = observed
  const actions = escalationStep.actions.filter((action) => {
    if (action === 'restart') return canRestart
    return action !== 'repair' && action !== 'give-up'
  })
  const ownStep: HealStep = {
    component,
    actions: drifted.length === 0 ? actions : ['repair', ...actions],
    ...reason,
  }
  if (ownStep.actions.length === 0) return []
  if (escalationStep.restartFirst === undefined || !canRestart) return [ownStep]
  return [
    {
      component: escalationStep.restartFirst,
      actions: ['restart'],
      because: `for ${component}, ${reason.because}`,
    },
    ownStep,
  ]
}

/**
 * Builds a step that only repairs drift. Repairs do not interrupt services, so healthy components are
 * repaired too.
 */
function buildRepairStep({ observed, healState, suspended, now }: ComponentDecisionInput): HealStep[] {
  const { component, drifted } = observed
  if (drifted.length === 0 || suspended !== undefined || !canRepair(healState, component, now)) return []
  return [{ component, actions: ['repair'], because: `drift: ${drifted.join(', ')}` }]
}
