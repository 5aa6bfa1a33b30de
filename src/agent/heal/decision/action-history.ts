import type { HealAction, HealState } from '../../../contract/health.ts'
import { formatDuration } from '../../../kit/time-format.ts'
import type { ComponentDecisionInput } from './decision-input.ts'
import { elapsed } from './elapsed.ts'
import type { Escalation } from './escalation.ts'

/** Maximum number of stored actions. */
const maxActions = 100

/** Milliseconds after which a continuing refusal is reported again. */
const reminderIntervalMs = 24 * 3_600_000

/** True if a refusal with this code was reported recently and the component has not recovered since. */
export function isReported(
  { actions }: Pick<HealState, 'actions'>,
  component: string,
  code: string,
  now: number,
  maxAgeMs: number = reminderIntervalMs,
): boolean {
  const own = actions.filter((action) => action.component === component)
  const recoveredIndex = own.findIndex(({ action }) => action === 'recovered')
  return own
    .slice(0, recoveredIndex === -1 ? undefined : recoveredIndex)
    .some((one) => one.action === 'refuse' && one.code === code && elapsed(one.at, now) < maxAgeMs)
}

/** Adds actions to the heal state, newest first. */
export function recordActions(healState: HealState, actions: readonly HealAction[]): HealState {
  return actions.length === 0
    ? healState
    : { ...healState, actions: [...actions.toReversed(), ...healState.actions].slice(0, maxActions) }
}

/** Reason why healing refuses to act, and a hint for the operator. */
interface Refusal {
  readonly code: string
  readonly because: string
  readonly hint?: string
}

export function reportExhausted(input: ComponentDecisionInput, because: string): HealAction {
  return { ...buildNotice(input, 'give-up', because), code: 'HEAL_EXHAUSTED' }
}

/**
 * Reports that a component has recovered. Returns an empty list if no action was reported since the problem
 * began.
 */
export function reportRecovery(input: ComponentDecisionInput, escalation: Escalation): HealAction[] {
  const { observed, healState, now } = input
  if (escalation.recoveredAt !== undefined) return []
  const lastAction = healState.actions.find(({ component }) => component === observed.component)
  const isOpen =
    lastAction !== undefined && lastAction.action !== 'recovered' && lastAction.at >= escalation.since
  if (escalation.lastStepAt === undefined && !isOpen) return []
  return [buildNotice(input, 'recovered', `recovery took ${formatDuration(elapsed(escalation.since, now))}`)]
}

/** Reports a refusal, unless it was reported recently. */
export function reportRefusal(
  input: ComponentDecisionInput,
  { code, because, hint }: Refusal,
  maxAgeMs?: number,
): HealAction[] {
  if (isReported(input.healState, input.observed.component, code, input.now, maxAgeMs)) return []
  return [{ ...buildNotice(input, 'refuse', because), code, details: hint === undefined ? [] : [hint] }]
}

/** Reports drifted secrets and certificates. Only an operator with the cluster identity can restore them. */
export function reportUnrepairable(input: ComponentDecisionInput): HealAction[] {
  const { unrepairable } = input.observed
  if (unrepairable.length === 0) return []
  const isCertificate = unrepairable.some(({ target }) => target === 'certificate')
  return reportRefusal(input, {
    code: 'HEAL_NEEDS_OPERATOR',
    because: unrepairable.map(({ name, difference }) => `${name}: ${difference}`).join(', '),
    hint: `in the directory of cluster.yml: hyperkube ${isCertificate ? 'certs renew HOST' : 'up'}`,
  })
}

function buildNotice(
  { observed, now }: ComponentDecisionInput,
  action: HealAction['action'],
  because: string,
): HealAction {
  const at = new Date(now).toISOString()
  return { at, component: observed.component, action, because, outcome: 'done', details: [] }
}
