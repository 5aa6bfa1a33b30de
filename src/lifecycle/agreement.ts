import type { Op } from '../contract/op.ts'
import { digestOf } from '../diff/digest.ts'
import type { Proposal } from './survey.ts'
import { type PlanDocument, plansByHost } from './plan-document.ts'

/**
 * What would be done though a plan that somebody agreed to does not say so, in words. Less is no more than was agreed to:
 * the rest of it was done before, perhaps by a run that was cut.
 */
export function beyondAgreement(agreed: PlanDocument, { plans, ops }: Proposal): string[] {
  const former = plansByHost(agreed)
  return plans.flatMap((plan) => {
    const own = ops.get(plan.host) ?? []
    if (own.length === 0) return []
    const then = former.get(plan.host)
    if (then === undefined) return [`${plan.host} is not in it`]
    const known = new Set((agreed.ops[plan.host] ?? []).map(nameOf))
    const added = own.filter((op) => !known.has(nameOf(op)))
    if (added.length > 0) {
      return added.map(({ action, target, name }) => `${plan.host}: ${action} ${target} ${name}`)
    }
    // The same ops may put other things in place.
    return digestOf(plan) === digestOf(then) ? [] : [`${plan.host} would be planned otherwise now`]
  })
}

/** Why it is done may change with what is left to do. */
function nameOf({ component, stage, action, target, name }: Op): string {
  return [component, stage, action, target, name].join(' ')
}
