import { z } from 'zod'
import { differenceFormat } from '../addons/addon-difference.ts'
import { findingSchema } from '../contract/finding.ts'
import { type NodePlan, nodePlanFormat } from '../contract/node-plan.ts'
import { opSchema } from '../contract/op.ts'
import type { Format } from '../contract/versioned.ts'
import type { RolloutStep } from '../rollout/step.ts'
import type { Proposal } from './build-proposal.ts'

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Plan'),
  findings: z.array(findingSchema),
  /** Only for readers and their tools. When a plan is executed, the steps are computed again. */
  steps: z.array(z.looseObject({ id: z.string(), hosts: z.array(z.string()) })),
  /** Ops by host name. */
  ops: z.record(z.string(), z.array(opSchema)),
  plans: z.array(nodePlanFormat.newest.schema),
  /** Only addons that have changes. */
  addons: z.array(differenceFormat.newest.schema).optional(),
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
