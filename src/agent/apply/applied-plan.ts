import { type NodePlan, nodePlanFormat } from '../../contract/node-plan.ts'
import { computeDigest } from '../../diff/digest.ts'
import type { Host } from '../host/host.ts'
import { readState, writeState } from './state-file.ts'

/** Files with the last plan that was applied completely and the plan before it. Plans contain no secrets. */
const planFiles = { last: 'plan.json', before: 'plan-before.json' } as const

/**
 * Name of the file with the last applied plan. The file changes whenever a different plan is applied
 * completely.
 */
export const appliedPlanFile = planFiles.last

/** Records that the host matches this plan. The plan that was recorded before is kept for a rollback. */
export async function saveAppliedPlan(host: Host, plan: NodePlan): Promise<void> {
  const last = await readPlan(host, planFiles.last)
  if (last !== undefined && computeDigest(last) === computeDigest(plan)) return
  if (last !== undefined) await writeState(host, planFiles.before, last)
  await writeState(host, planFiles.last, plan)
}

/** Returns the last plan that was applied completely. Undefined before the first one and after a reset. */
export async function readAppliedPlan(host: Host): Promise<NodePlan | undefined> {
  return readPlan(host, planFiles.last)
}

/**
 * Returns the plan to roll back to: the newest recorded plan whose digest is not `differentFrom`. Undefined
 * if no such plan is recorded.
 */
export async function readPreviousPlan(host: Host, differentFrom: string): Promise<NodePlan | undefined> {
  const last = await readPlan(host, planFiles.last)
  if (last !== undefined && computeDigest(last) !== differentFrom) return last
  return readPlan(host, planFiles.before)
}

/** Reads a recorded plan. An unreadable file counts as missing, so a rollback never uses it. */
async function readPlan(host: Host, name: string): Promise<NodePlan | undefined> {
  return readState(host, name, nodePlanFormat)
}
