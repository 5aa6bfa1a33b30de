import type { Case } from './decision-input.ts'
import type { Rung } from './escalation-policy.ts'
import { mayPutBack } from './put-back.ts'
import type { HealStep } from './heal-step.ts'
import { endsByItself } from './unit-observation.ts'

/** A rung as it is for this component: put back what has drifted, and leave out what would not help. */
export function stepsOf(
  { seen, now }: Case,
  rung: Rung,
  why: Pick<HealStep, 'because' | 'code'>,
  patience: number,
): HealStep[] {
  const { component, unit, drifted } = seen
  const restarts = unit !== undefined && !endsByItself(unit, patience, now)
  const actions = rung.do.filter((action) => {
    if (action === 'restart') return restarts
    return action !== 'put-back' && action !== 'give-up'
  })
  const own: HealStep = {
    component,
    actions: drifted.length === 0 ? actions : ['put-back', ...actions],
    ...why,
  }
  if (own.actions.length === 0) return []
  if (rung.first === undefined || !restarts) return [own]
  return [{ component: rung.first, actions: ['restart'], because: `for ${component}, ${why.because}` }, own]
}

/** Leaves alone what runs, and so is done to what is well, too. */
export function putBackAlone({ seen, memory, idle, now }: Case): HealStep[] {
  const { component, drifted } = seen
  if (drifted.length === 0 || idle !== undefined || !mayPutBack(memory, component, now)) return []
  return [{ component, actions: ['put-back'], because: `not as it was put there: ${drifted.join(', ')}` }]
}
