import type { AddonDifference } from '../addons/addon-difference.ts'
import { describeReference } from '../addons/reference.ts'
import type { Op } from '../contract/op.ts'
import { digestOf } from '../diff/digest.ts'
import { isFeasible } from './addons/proposal.ts'
import type { Proposal } from './build-proposal.ts'
import { type PlanDocument, plansByHost } from './plan-document.ts'

/**
 * What would be done though a plan that somebody agreed to does not say so, in words. Less is no more than was agreed to:
 * the rest of it was done before, perhaps by a run that was cut.
 */
export function beyondAgreement(agreed: PlanDocument, proposal: Proposal): string[] {
  return [
    ...beyondOnHosts(agreed, proposal),
    ...beyondInLeaving(agreed, proposal),
    ...beyondInAddons(agreed.addons ?? [], proposal.addons),
  ]
}

function beyondInLeaving(agreed: PlanDocument, { steps }: Proposal): string[] {
  const known = new Set(agreed.steps.map(({ id }) => id))
  return steps.flatMap((step) =>
    step.what === 'leave' && !known.has(step.id) ? [`${step.host} would leave the cluster`] : [],
  )
}

function beyondOnHosts(agreed: PlanDocument, { plans, ops }: Proposal): string[] {
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

function beyondInAddons(agreed: readonly AddonDifference[], { differences }: Proposal['addons']): string[] {
  const former = new Map(agreed.map((one) => [one.addon, one]))
  return differences.filter(isFeasible).flatMap(({ addon, digest, objects, unwished }) => {
    const then = former.get(addon)
    if (then === undefined) return [`addon ${addon} is not in it`]
    if (then.digest !== digest) return [`addon ${addon} would be another one now`]
    const known = new Set([...then.objects, ...then.unwished].map(changeOf))
    return [...objects.filter(({ change }) => change !== 'none'), ...unwished]
      .filter((object) => !known.has(changeOf(object)))
      .map((object) => `addon ${addon}: ${describeReference(object)}`)
  })
}

/** What becomes of an object, field by field. */
function changeOf(object: AddonDifference['objects'][number] | AddonDifference['unwished'][number]): string {
  return JSON.stringify(object)
}

/** Why it is done may change with what is left to do. */
function nameOf({ component, stage, action, target, name }: Op): string {
  return [component, stage, action, target, name].join(' ')
}
