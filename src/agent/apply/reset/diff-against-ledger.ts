import type { Ledger } from '../../../contract/ledger.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { diffPlan } from '../../../diff/diff.ts'
import { toPresentResources } from '../inspect.ts'

/** Computes the ops for a plan as if every resource of the ledger were present and unchanged. */
export function diffAgainstLedger(plan: NodePlan, { resources }: Ledger): Op[] {
  return diffPlan(
    plan,
    toPresentResources(resources.map((resource) => ({ resource, state: 'as-written' as const }))),
  )
}
