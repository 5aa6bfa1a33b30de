import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { diff } from '../diff/diff.ts'
import { presentAfter } from '../diff/plan-resources.ts'
import { keepingCertificates } from '../diff/keep-certificates.ts'
import { isWorkerPlan } from './host.ts'
import { maxUnavailable } from './max-unavailable.ts'
import type { Step } from './step.ts'

/** What a host that is as a plan says has to do to be what it was before. Certificates stay: newer ones are good for both. */
export function opsBack(former: NodePlan, tried: NodePlan): Op[] {
  const there = tried.components.flatMap(({ certificates }) => certificates)
  return diff(keepingCertificates(former, there), presentAfter(tried))
}

export interface SlotsInput {
  /** Of the hosts that try something. */
  readonly plans: readonly NodePlan[]
  /** Of the rollout that has brought it to them; those that are not in it have had it before. */
  readonly steps: readonly Step[]
  /** How many workers may be away at once, as cluster.yml says it, and how many there are. */
  readonly maxUnavailable: number | string
  readonly workers: number
}

/**
 * Which hosts go back together, one group after the other, each in the reverse order of the rollout. Control planes and
 * members of etcd come first, one by one: what was tried may be why no API server answers, and nothing gets well before
 * that is. Then workers, as many at once as may be away at any time; nobody counts on one of them.
 */
export function groupsBack({ plans, steps, maxUnavailable: wish, workers }: SlotsInput): string[][] {
  const order = steps.flatMap(({ hosts }) => hosts)
  const last = plans
    .map((plan) => ({ plan, turn: order.lastIndexOf(plan.host) }))
    .toSorted((a, b) => b.turn - a.turn || (a.plan.host < b.plan.host ? 1 : -1))
    .map(({ plan }) => plan)
  const single = last.filter((plan) => !isWorkerPlan(plan)).map(({ host }) => [host])
  const others = last.filter(isWorkerPlan).map(({ host }) => host)
  const size = maxUnavailable(wish, workers)
  const groups = Array.from({ length: Math.ceil(others.length / size) }, (_, index) =>
    others.slice(index * size, (index + 1) * size),
  )
  return [...single, ...groups]
}

/** How long after the deadline each host goes back, in milliseconds. */
export function slotsBack(
  groups: readonly (readonly string[])[],
  width: number,
): ReadonlyMap<string, number> {
  return new Map(groups.flatMap((group, index) => group.map((host) => [host, index * width] as const)))
}
