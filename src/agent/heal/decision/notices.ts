import type { HealAction } from '../../../contract/health.ts'
import { formatDuration } from '../../../kit/duration.ts'
import type { ComponentDecisionInput } from './decision-input.ts'
import type { Escalation } from './escalation.ts'
import { elapsed } from './elapsed.ts'
import { isReported } from './action-history.ts'

/** Why healing refuses to act, and what a person can do about it. */
interface Refusal {
  readonly code: string
  readonly because: string
  readonly hint?: string
}

export function reportExhausted(input: ComponentDecisionInput, because: string): HealAction {
  return { ...buildNotice(input, 'give-up', because), code: 'HEAL_EXHAUSTED' }
}

/** Closes a problem that was acted on or refused. Problems that were never reported need no recovery. */
export function reportRecovery(input: ComponentDecisionInput, escalation: Escalation): HealAction[] {
  const { observed, healState, now } = input
  if (escalation.recoveredAt !== undefined) return []
  const lastAction = healState.actions.find(({ component }) => component === observed.component)
  const isOpen =
    lastAction !== undefined && lastAction.action !== 'recovered' && lastAction.at >= escalation.since
  if (escalation.lastStepAt === undefined && !isOpen) return []
  return [buildNotice(input, 'recovered', `it took ${formatDuration(elapsed(escalation.since, now))}`)]
}

/** Reported once, as long as the refusal lasts. */
export function reportRefusal(
  input: ComponentDecisionInput,
  { code, because, hint }: Refusal,
  maxAgeMs?: number,
): HealAction[] {
  if (isReported(input.healState, input.observed.component, code, input.now, maxAgeMs)) return []
  return [{ ...buildNotice(input, 'refuse', because), code, details: hint === undefined ? [] : [hint] }]
}

/** A secret or a certificate is missing: only an operator with the cluster identity can restore it. */
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
