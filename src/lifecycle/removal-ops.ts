import type { NodePlan } from '../contract/node-plan.ts'
import type { Op } from '../contract/op.ts'
import { buildEmptyPlan } from '../diff/empty-plan.ts'
import type { Identity } from '../identity/identity.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { Session } from './session.ts'

/** Computes the ops that remove everything of hyperkube from hosts, by host name. Changes nothing. */
export async function readRemovalOps(
  { metadata, id }: Pick<Identity, 'metadata' | 'id'>,
  sessions: ReadonlyMap<string, Pick<Session, 'request'>>,
): Promise<ReadonlyMap<string, readonly Op[]>> {
  const cluster: NodePlan['cluster'] = { name: metadata.name, id }
  const all = await settleAll(
    [...sessions].map(async ([host, session]) => {
      const { ops } = await session.request({ type: 'diff', plan: buildEmptyPlan(cluster, host) }, 'diff')
      return [host, ops] as const
    }),
  )
  return new Map(all)
}
