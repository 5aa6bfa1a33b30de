import { type NodePlan, nodePlanFormat } from '../../contract/node-plan.ts'
import { computeDigest } from '../../diff/digest.ts'
import type { Host } from '../host/host.ts'
import { readState, writeState } from './state-file.ts'

/** The last plan that was applied completely, and the one before it. Plans contain no secrets. */
const planFiles = { last: 'plan.json', before: 'plan-before.json' } as const

/** This file changes whenever another plan is applied completely. */
export const appliedPlanFile = planFiles.last

/** Records that the host matches this plan. */
export async function saveAppliedPlan(host: Host, plan: NodePlan): Promise<void> {
  const last = await readPlan(host, planFiles.last)
  if (last !== undefined && computeDigest(last) === computeDigest(plan)) return
  if (last !== undefined) await writeState(host, planFiles.before, last)
  await writeState(host, planFiles.last, plan)
}

/** Undefined if no plan was ever applied completely, or none since the last reset. */
export async function readAppliedPlan(host: Host): Promise<NodePlan | undefined> {
  return readPlan(host, planFiles.last)
}

/**
 * Returns the plan to roll back to: the last applied one whose digest differs. Undefined if there is none.
 */
export async function readPreviousPlan(host: Host, differentFrom: string): Promise<NodePlan | undefined> {
  const last = await readPlan(host, planFiles.last)
  if (last !== undefined && computeDigest(last) !== differentFrom) return last
  return readPlan(host, planFiles.before)
}

/** An unreadable plan counts as missing: no rollback uses it. */
async function readPlan(host: Host, name: string): Promise<NodePlan | undefined> {
  return readState(host, name, nodePlanFormat)
}
