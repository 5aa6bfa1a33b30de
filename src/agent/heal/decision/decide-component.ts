import { duration } from '../../../kit/duration.ts'
import { isDown } from '../../host/systemd.ts'
import type { Case, Verdict } from './decision-input.ts'
import { beginClimb, calmed, type Climb, climbed, dueRung, resumed } from './escalation.ts'
import type { ComponentSeen, Danger } from './component-observation.ts'
import { type Condition, conditionOf } from './component-condition.ts'
import { elapsed } from './elapsed.ts'
import { heldBy } from './blocked-by.ts'
import { patienceWith } from './escalation-policy.ts'
import { allNeeds } from './dependency-order.ts'
import { isDisturbing } from './heal-step.ts'
import { putBackAlone, stepsOf } from './build-steps.ts'
import { givesUp, needsOperator, recovered, refuses } from './notices.ts'

type Unwell = Extract<Condition, { state: 'unwell' }>

export function verdictOf(one: Case): Verdict {
  const { seen, memory, now } = one
  const condition = conditionOf(seen, now)
  const climb = memory.climbs[seen.component]
  if (seen.danger !== undefined) return inDanger(one, seen.danger, climb)
  const verdict =
    condition.state === 'unwell'
      ? unwell(
          one,
          condition,
          climb === undefined ? beginClimb(condition.since) : resumed(climb, condition.since),
        )
      : notUnwell(one, condition, climb)
  const { steps = [], words = [] } = verdict
  return {
    ...verdict,
    steps: steps.length === 0 ? putBackAlone(one) : steps,
    words: [...words, ...needsOperator(one)],
  }
}

function unwell(one: Case, { because, code, since: _since }: Unwell, climb: Climb): Verdict {
  const { seen, all, idle, now, ladder, left, waits } = one
  const why = { because, ...(code === undefined ? {} : { code }) }
  if (seen.stopped === true) return { state: 'held', because: 'an operator has stopped its service', climb }
  if (idle !== undefined) return { state: 'held', ...why, ...idle, climb }
  const grace = ladder.startup + seen.slowest
  const held = heldBy(seen, code, allNeeds(seen, all), grace, now)
  if (held !== undefined) return { state: 'held', ...why, because: held, climb }
  const patience = patienceWith(ladder, seen.component, grace)
  const rung = isStarting(seen, patience, now)
    ? undefined
    : dueRung(ladder, seen.component, climb, patience, now)
  if (rung === undefined) return { ...stateOf(climb, why), climb }
  const steps = stepsOf(one, rung, why, patience)
  const cost = steps.filter(isDisturbing).length
  if (cost > 0 && waits) return { ...stateOf(climb, why), climb }
  if (cost > left) return overBudget(one, climb)
  const next = climbed(climb, rung, now)
  const words = rung.do.includes('give-up') ? [givesUp(one, because)] : []
  return { ...stateOf(next, why), steps, words, climb: next }
}

/** What systemd is about to do itself is given time. */
function isStarting({ unit }: ComponentSeen, patience: number, now: number): boolean {
  if (unit === undefined || isDown(unit.state)) return false
  const since = unit.state.active === 'deactivating' ? unit.changed : unit.row
  return elapsed(since, now) < patience
}

function stateOf(climb: Climb, why: Pick<Verdict, 'because' | 'code'>): Omit<Verdict, 'climb'> {
  if (climb.givenUp) return { state: 'given-up', ...why, code: 'HEAL_GAVE_UP' }
  return { state: climb.acted === undefined ? 'unwell' : 'healing', ...why }
}

function overBudget(one: Case, climb: Climb): Verdict {
  const { most, within } = one.budget
  const because = `this host was disturbed ${most} times within ${duration(within)}, which is enough`
  const refusal = { code: 'HEAL_BUDGET_SPENT', because }
  return { state: 'held', ...refusal, words: refuses(one, refusal, within), climb }
}

function notUnwell(one: Case, { state }: Condition, climb: Climb | undefined): Verdict {
  if (climb === undefined) return { state: 'well', climb }
  if (state === 'well') return { state, words: recovered(one, climb), climb: calmed(climb, one.now) }
  if (climb.recovered !== undefined || (climb.acted === undefined && !climb.givenUp))
    return { state: 'well', climb }
  return { ...stateOf(climb, {}), climb }
}

/** What would risk data is left as it is. */
function inDanger(one: Case, danger: Danger, climb: Climb = beginClimb(one.now)): Verdict {
  const { code, because } = danger
  return { state: 'held', code, because, words: refuses(one, danger), climb }
}
