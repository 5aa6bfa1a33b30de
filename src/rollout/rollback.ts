import type { Stage } from '../contract/component-plan.ts'
import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { canReturn } from '../contract/predecessor.ts'
import { diffPlan } from '../diff/diff.ts'
import { keepCertificates, resourcesAfterApply } from '../diff/plan-resources.ts'
import { computeDigest } from '../diff/resource.ts'
import { resolveMaxUnavailable } from './cluster-state.ts'
import { isWorkerPlan } from './host.ts'
import type { RolloutStep } from './step.ts'

/**
 * Builds the ops that return a host from the provisional plan to the previous plan. Certificates stay,
 * because newer certificates are valid for both plans.
 */
export function diffRollback(previous: NodePlan, provisional: NodePlan): Op[] {
  const current = provisional.components.flatMap(({ certificates }) => certificates)
  return diffPlan(keepCertificates(previous, current), resourcesAfterApply(provisional))
}

export interface RollbackInput {
  /** Plans of the hosts with a provisional change. */
  readonly plans: readonly NodePlan[]
  /** Steps of the rollout that applied the change. A host without a step already had the change. */
  readonly steps: readonly RolloutStep[]
  /** Maximum number or percentage of unavailable workers, as in cluster.yml. */
  readonly maxUnavailable: number | string
  readonly workers: number
}

/**
 * Groups the hosts that roll back together. Control planes and etcd members come first, one by one, because
 * the change may have broken all API servers. Workers follow, at most `maxUnavailable` at once. Both kinds of
 * hosts are sorted in the reverse order of the rollout.
 */
export function groupRollback({ plans, steps, maxUnavailable: setting, workers }: RollbackInput): string[][] {
  const order = steps.flatMap(({ hosts }) => hosts)
  const reversed = plans
    .map((plan) => ({ plan, turn: order.lastIndexOf(plan.host) }))
    .toSorted((a, b) => b.turn - a.turn || (a.plan.host < b.plan.host ? 1 : -1))
    .map(({ plan }) => plan)
  const singles = reversed.filter((plan) => !isWorkerPlan(plan)).map(({ host }) => [host])
  const workerNames = reversed.filter(isWorkerPlan).map(({ host }) => host)
  const size = resolveMaxUnavailable(setting, workers)
  const groups = Array.from({ length: Math.ceil(workerNames.length / size) }, (_, index) =>
    workerNames.slice(index * size, (index + 1) * size),
  )
  return [...singles, ...groups]
}

/** Computes when each host rolls back, in milliseconds after the deadline of the provisional change. */
export function scheduleRollback(
  groups: readonly (readonly string[])[],
  intervalMs: number,
): ReadonlyMap<string, number> {
  return new Map(groups.flatMap((group, index) => group.map((host) => [host, index * intervalMs] as const)))
}

/**
 * Selects the stages of a failed step that roll back. The stage etcd stays if only a later stage failed. Once
 * all members have a new minor version, etcd accepts no older member. `remaining` are the ops that the host
 * still needs.
 */
export function selectRollbackStages(
  stages: readonly Stage[],
  remaining: readonly Op[],
  etcdHealthy: boolean,
): readonly Stage[] {
  // Removals do not count as remaining etcd work. A run removes the programs of the previous version only at
  // its end, so their removal is always pending here.
  const isEtcdDone = !remaining.some(({ stage, action }) => stage === 'etcd' && action !== 'remove')
  const keepsEtcd = stages.at(-1) !== 'etcd' && etcdHealthy && isEtcdDone
  return keepsEtcd ? stages.filter((stage) => stage !== 'etcd') : stages
}

/**
 * Builds a plan in which the components of the given stages are those of the previous plan. Other stages keep
 * their components, because other hosts may rely on them. Returns undefined if nothing would change.
 */
export function buildRollbackPlan(
  plan: NodePlan,
  previous: NodePlan,
  stages: readonly Stage[],
): NodePlan | undefined {
  const isRolledBack = ({ stage }: { readonly stage: Stage }): boolean => stages.includes(stage)
  const before = previous.components.filter(isRolledBack)
  const current = plan.components.filter(isRolledBack)
  // A host of an adopted cluster returns to what its components have replaced.
  const canBeEmpty = canReturn(current)
  if ((before.length === 0 && !canBeEmpty) || computeDigest(before) === computeDigest(current))
    return undefined
  const previousByName = new Map(before.map((component) => [component.name, component]))
  const components = plan.components.flatMap((component) =>
    isRolledBack(component) ? (previousByName.get(component.name) ?? []) : [component],
  )
  const presentNames = new Set(components.map(({ name }) => name))
  return { ...plan, components: [...components, ...before.filter(({ name }) => !presentNames.has(name))] }
}
