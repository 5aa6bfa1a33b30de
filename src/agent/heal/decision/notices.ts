import type { HealAction } from '../../../contract/health.ts'
import { duration } from '../../../kit/duration.ts'
import type { Case } from './decision-input.ts'
import type { Climb } from './escalation.ts'
import { elapsed } from './elapsed.ts'
import { isTold } from './action-history.ts'

/** Why, and what a person can do about it. */
interface Refusal {
  readonly code: string
  readonly because: string
  readonly hint?: string
}

export function givesUp(one: Case, because: string): HealAction {
  return { ...said(one, 'give-up', because), code: 'HEAL_GAVE_UP' }
}

/** What was done to it, or was refused, has to have an end; what nobody has heard of needs none. */
export function recovered(one: Case, climb: Climb): HealAction[] {
  const { seen, memory, now } = one
  if (climb.recovered !== undefined) return []
  const last = memory.actions.find(({ component }) => component === seen.component)
  const isOpen = last !== undefined && last.action !== 'recovered' && last.at >= climb.since
  if (climb.acted === undefined && !isOpen) return []
  return [said(one, 'recovered', `it took ${duration(elapsed(climb.since, now))}`)]
}

/** Said once, as long as it lasts. */
export function refuses(one: Case, { code, because, hint }: Refusal, within?: number): HealAction[] {
  if (isTold(one.memory, one.seen.component, code, one.now, within)) return []
  return [{ ...said(one, 'refuse', because), code, details: hint === undefined ? [] : [hint] }]
}

/** A secret, or a certificate: only who has the keys of the cluster can bring it. */
export function needsOperator(one: Case): HealAction[] {
  const { beyond } = one.seen
  if (beyond.length === 0) return []
  const isCertificate = beyond.some(({ target }) => target === 'certificate')
  return refuses(one, {
    code: 'HEAL_NEEDS_OPERATOR',
    because: beyond.map(({ name, what }) => `${name}: ${what}`).join(', '),
    hint: `where cluster.yml is: hyperkube ${isCertificate ? 'certs renew HOST' : 'up'}`,
  })
}

function said({ seen, now }: Case, action: HealAction['action'], because: string): HealAction {
  const at = new Date(now).toISOString()
  return { at, component: seen.component, action, because, outcome: 'done', details: [] }
}
