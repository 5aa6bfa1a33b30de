import type { HealAction } from '../../../contract/health.ts'
import { formatDuration } from '../../../kit/duration.ts'
import type { ComponentDecisionInput } from './decision-input.ts'
import type { Escalation } from './escalation.ts'
import { elapsed } from './elapsed.ts'
import { isReported } from './action-history.ts'

/** Reason why healing refuses to act, and a hint for the operator. */
interface Refusal {
  readonly code: string
  readonly because: string
  readonly hint?: string
}

export function reportExhausted(input: ComponentDecisionInput, because: string): HealAction {
  return { ...buildNotice(input, 'give-up', because), code: 'HEAL_EXHAUSTED' }
}

/** Reports the end of a problem. If there was no action and no report before, it returns nothing. */
export function reportRecovery(input: ComponentDecisionInput, escalation: Escalation): HealAction[] {
  const { observed, healState, now } = input
  if (escalation.recoveredAt !== undefined) return []
  const lastAction = healState.actions.find(({ component }) => component === observed.component)
  const isOpen =
    lastAction !== undefined && lastAction.action !== 'recovered' && lastAction.at >= escalation.since
  if (escalation.lastStepAt === undefined && !isOpen) return []
  return [buildNotice(input, 'recovered', `it took ${formatDuration(elapsed(escalation.since, now))}`)]
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

/** Reports missing secrets and certificates. Only an operator with the cluster identity can restore them. */
export function reportUnrepairable(input: ComponentDecisionInput): HealAction[] {
  const { unrepairable } = input.observed
  if (unrepairable.length === 0) return []
  const isCertificate = unrepairable.some(({ target }) => target === 'certificate')
  return reportRefusal(input, {
    code: 'HEAL_NEEDS_OPERATOR',
    because: unrepairable.map(({ name, difference }) => `${name}: ${difference}`).join(', '),
    hint: `where cluster.yml is: hyperkube ${isCertificate ? 'certs renew HOST' : 'up'}`,
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
