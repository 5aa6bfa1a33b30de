import type { HealState } from '../../../contract/heal-state.ts'
import type { ComponentDecisionInput } from './decision-input.ts'
import { elapsed } from './elapsed.ts'
import type { EscalationStep } from './escalation-policy.ts'
import type { HealStep } from './heal-step.ts'
import { isCrashLooping } from './unit-observation.ts'

const [minute, hour] = [60_000, 3_600_000]

/**
 * Limits of drift repairs in milliseconds. After `max` repairs within `windowMs` the longer interval applies,
 * because something else keeps changing the resource.
 */
const repairLimits = { intervalMs: minute, max: 10, windowMs: hour, slowIntervalMs: 10 * minute } as const

function canRepair({ actions }: Pick<HealState, 'actions'>, component: string, now: number): boolean {
  const ages = actions
    .filter((one) => one.component === component && one.action === 'repair')
    .map(({ at }) => elapsed(at, now))
  const isFrequent = ages.filter((one) => one < repairLimits.windowMs).length >= repairLimits.max
  return ages.every((one) => one >= (isFrequent ? repairLimits.slowIntervalMs : repairLimits.intervalMs))
}

/**
 * Adapts an escalation step to the component: adds the repair of drift and removes actions that would not
 * help.
 */
export function buildSteps(
  { observed, now }: ComponentDecisionInput,
  escalationStep: EscalationStep,
  reason: Pick<HealStep, 'because' | 'code'>,
  graceMs: number,
): HealStep[] {
  const { component, unit, drifted } = observed
  const restarts = unit !== undefined && !isCrashLooping(unit, graceMs, now)
  const actions = escalationStep.actions.filter((action) => {
    if (action === 'restart') return restarts
    return action !== 'repair' && action !== 'give-up'
  })
  const ownStep: HealStep = {
    component,
    actions: drifted.length === 0 ? actions : ['repair', ...actions],
    ...reason,
  }
  if (ownStep.actions.length === 0) return []
  if (escalationStep.restartFirst === undefined || !restarts) return [ownStep]
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
export function buildRepairStep({ observed, healState, suspended, now }: ComponentDecisionInput): HealStep[] {
  const { component, drifted } = observed
  if (drifted.length === 0 || suspended !== undefined || !canRepair(healState, component, now)) return []
  return [{ component, actions: ['repair'], because: `not as it was put there: ${drifted.join(', ')}` }]
}
