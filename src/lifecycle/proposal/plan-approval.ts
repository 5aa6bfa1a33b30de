import { z } from 'zod'
import { type AddonDifference, differenceFormat } from '../../addons/addon-difference.ts'
import { describeReference } from '../../addons/reference.ts'
import { findingSchema, positionSchema } from '../../contract/finding.ts'
import { type NodePlan, nodePlanFormat } from '../../contract/node-plan.ts'
import { type Op, opSchema } from '../../contract/op.ts'
import type { Format } from '../../contract/versioned.ts'
import { computeDigest } from '../../diff/resource.ts'
import type { RolloutStep } from '../../rollout/step.ts'
import { isFeasible } from '../addons/proposal.ts'
import type { Proposal } from './proposal.ts'

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Plan'),
  findings: z.array(findingSchema),
  /** Steps for display only. When a plan is executed, the steps are computed again. */
  steps: z.array(z.looseObject({ id: z.string(), hosts: z.array(z.string()) })),
  /** Ops by host name. */
  ops: z.record(z.string(), z.array(opSchema)),
  plans: z.array(nodePlanFormat.newest.schema),
  /** Changes of addons. Addons without changes are left out. */
  addons: z.array(differenceFormat.newest.schema).optional(),
  /** Values of cluster.yml that come from fleet.yml, for display only. */
  inherited: z.array(z.strictObject({ path: z.string(), position: positionSchema })).optional(),
})
/** A stored proposal, which can be displayed, compared or executed later. It contains no secrets. */
export type PlanDocument = z.infer<typeof document>

export const planFormat: Format<PlanDocument> = {
  kind: 'Plan',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** The parts of a proposal that a plan document stores. */
export interface PlannedChanges extends Pick<Proposal, 'findings' | 'plans' | 'ops' | 'addons'> {
  readonly steps: readonly Pick<RolloutStep, 'id' | 'hosts'>[]
}

/** Builds a plan document for the given hosts; by default for all hosts. */
export function buildPlanDocument(
  { findings, plans, ops, steps, addons }: PlannedChanges,
  hosts: ReadonlySet<string> = new Set(ops.keys()),
): PlanDocument {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Plan',
    findings: [...findings],
    steps: steps.map((step) => ({ ...step, hosts: [...step.hosts] })),
    ops: Object.fromEntries(
      [...ops].filter(([host]) => hosts.has(host)).map(([host, hostOps]) => [host, [...hostOps]]),
    ),
    plans: plans.filter(({ host }) => hosts.has(host)),
    addons: [...addons.differences],
  }
}

/** Returns the plans of a document by host name. */
export function indexPlansByHost({ plans }: PlanDocument): ReadonlyMap<string, NodePlan> {
  return new Map(plans.map((plan) => [plan.host, plan]))
}

/**
 * Lists changes of a proposal that an approved plan does not contain. Fewer changes are allowed, because an
 * interrupted run may already have made some of them.
 */
export function findUnapprovedChanges(approved: PlanDocument, proposal: Proposal): string[] {
  return [
    ...findUnapprovedHostChanges(approved, proposal),
    ...findUnapprovedRemovals(approved, proposal),
    ...findUnapprovedAddonChanges(approved.addons ?? [], proposal.addons),
  ]
}

function findUnapprovedRemovals(approved: PlanDocument, { steps }: Proposal): string[] {
  const known = new Set(approved.steps.map(({ id }) => id))
  return steps.flatMap((step) =>
    step.kind === 'remove' && !known.has(step.id) ? [`${step.host} would be removed from the cluster`] : [],
  )
}

function findUnapprovedHostChanges(approved: PlanDocument, { plans, ops }: Proposal): string[] {
  const previous = indexPlansByHost(approved)
  return plans.flatMap((plan) => {
    const own = ops.get(plan.host) ?? []
    if (own.length === 0) return []
    const approvedItem = previous.get(plan.host)
    if (approvedItem === undefined) return [`${plan.host} is not in the approved plan`]
    const known = new Set((approved.ops[plan.host] ?? []).map(formatOpKey))
    const added = own.filter((op) => !known.has(formatOpKey(op)))
    if (added.length > 0) {
      return added.map(({ action, target, name }) => `${plan.host}: ${action} ${target} ${name}`)
    }
    // Equal ops may still write different content, so the plans are compared too.
    return computeDigest(plan) === computeDigest(approvedItem) ? [] : [`the plan of ${plan.host} has changed`]
  })
}

function findUnapprovedAddonChanges(
  approved: readonly AddonDifference[],
  { differences }: Proposal['addons'],
): string[] {
  const previous = new Map(approved.map((one) => [one.addon, one]))
  return differences.filter(isFeasible).flatMap(({ addon, digest, objects, toPrune }) => {
    const approvedItem = previous.get(addon)
    if (approvedItem === undefined) return [`addon ${addon} is not in the approved plan`]
    if (approvedItem.digest !== digest) return [`addon ${addon} has changed`]
    const known = new Set([...approvedItem.objects, ...approvedItem.toPrune].map(serializeChange))
    return [...objects.filter(({ change }) => change !== 'none'), ...toPrune]
      .filter((object) => !known.has(serializeChange(object)))
      .map((object) => `addon ${addon}: ${describeReference(object)}`)
  })
}

/** Serializes the complete change of an object, for comparison. */
function serializeChange(
  object: AddonDifference['objects'][number] | AddonDifference['toPrune'][number],
): string {
  return JSON.stringify(object)
}

/**
 * Formats the identity of an op. The identity does not include the field `because`: its causes may change
 * when other ops finish.
 */
function formatOpKey({ component, stage, action, target, name }: Op): string {
  return [component, stage, action, target, name].join(' ')
}
