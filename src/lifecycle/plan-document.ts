import { z } from 'zod'
import { differenceFormat } from '../addons/addon-difference.ts'
import { findingSchema } from '../contract/finding.ts'
import { type NodePlan, nodePlanFormat } from '../contract/node-plan.ts'
import { op } from '../contract/op.ts'
import type { Format } from '../contract/versioned.ts'
import type { Step } from '../rollout/step.ts'
import type { Proposal } from './build-proposal.ts'

const document = z.strictObject({
  apiVersion: z.literal('hyperkube.dev/v1'),
  kind: z.literal('Plan'),
  findings: z.array(findingSchema),
  /** For people and their programs: the order is worked out anew whenever it is needed. */
  steps: z.array(z.looseObject({ id: z.string(), hosts: z.array(z.string()) })),
  /** By name of host. */
  ops: z.record(z.string(), z.array(op)),
  plans: z.array(nodePlanFormat.newest.schema),
  /** Those for which there is something to do. */
  addons: z.array(differenceFormat.newest.schema).optional(),
})
/** What would be done, as it is kept: to be read, compared with, or done later. It holds no secret. */
export type PlanDocument = z.infer<typeof document>

export const planFormat: Format<PlanDocument> = {
  kind: 'Plan',
  newest: { apiVersion: 'hyperkube.dev/v1', schema: document },
  older: [],
}

/** What a command would do to a cluster, as far as it is kept. */
export interface Foreseen extends Pick<Proposal, 'findings' | 'plans' | 'ops' | 'addons'> {
  readonly steps: readonly Pick<Step, 'id' | 'hosts'>[]
}

/** Of the hosts that it shall speak of; of all, where nobody says more. */
export function planDocument(
  { findings, plans, ops, steps, addons }: Foreseen,
  hosts: ReadonlySet<string> = new Set(ops.keys()),
): PlanDocument {
  return {
    apiVersion: 'hyperkube.dev/v1',
    kind: 'Plan',
    findings: [...findings],
    steps: steps.map((step) => ({ ...step, hosts: [...step.hosts] })),
    ops: Object.fromEntries(
      [...ops].filter(([host]) => hosts.has(host)).map(([host, own]) => [host, [...own]]),
    ),
    plans: plans.filter(({ host }) => hosts.has(host)),
    addons: [...addons.differences],
  }
}

/** What is taken to be there, when a former plan was done. By name of host. */
export function plansByHost({ plans }: PlanDocument): ReadonlyMap<string, NodePlan> {
  return new Map(plans.map((plan) => [plan.host, plan]))
}
