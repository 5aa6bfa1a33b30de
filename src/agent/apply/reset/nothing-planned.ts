import type { Ledger } from '../../../contract/ledger.ts'
import type { NodePlan } from '../../../contract/node-plan.ts'
import type { Op } from '../../../contract/op.ts'
import { diff } from '../../../diff/diff.ts'
import { presentItems } from '../present.ts'

/** Against it everything that is written down goes, in the order in which it may. */
export function nothingPlanned({ cluster }: Ledger, host: string): NodePlan {
  const head = { apiVersion: 'hyperkube.dev/v1', kind: 'NodePlan', os: 'linux', arch: 'amd64' } as const
  return { ...head, cluster, host, address: '', roles: [], components: [] }
}

export function opsAgainst(plan: NodePlan, { things }: Ledger): Op[] {
  return diff(plan, presentItems(things.map((thing) => ({ thing, state: 'as-written' as const }))))
}
