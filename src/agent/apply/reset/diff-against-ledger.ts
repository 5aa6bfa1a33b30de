import type { Ledger } from '../../../contract/ledger.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { diff } from '../../../diff/diff.ts'
import { presentItems } from '../inspect.ts'

/** As if everything were there that is written down. */
export function opsAgainst(plan: NodePlan, { things }: Ledger): Op[] {
  return diff(plan, presentItems(things.map((thing) => ({ thing, state: 'as-written' as const }))))
}
