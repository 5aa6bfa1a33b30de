import { hash } from 'node:crypto'
import type { Facts } from '../../contract/facts.ts'
import type { AgentResponseBody } from '../agents/agent-link.ts'
import type { NodePlan } from '../../contract/node-plan.ts'
import type { Op } from '../../contract/op.ts'
import { buildEmptyPlan } from '../../diff/plan-resources.ts'
import type { Identity } from '../../identity/identity.ts'
import { mapWithConcurrency, settleAll } from '../../kit/concurrency.ts'
import { unlessAgentMissing } from '../agents/missing-agent.ts'
import { maxPlanRequests } from '../agents/plan-requests.ts'
import type { Session } from '../agents/session.ts'

type HostDiff = Extract<AgentResponseBody, { type: 'diff' }>

/** Reads the facts of all hosts, by host name. */
export async function readHostFacts(
  sessions: ReadonlyMap<string, Session>,
): Promise<ReadonlyMap<string, Facts>> {
  const all = await settleAll(
    [...sessions].map(async ([host, session]) => {
      const { facts } = await session.request({ type: 'facts', host }, 'facts')
      return [host, facts] as const
    }),
  )
  return new Map(all)
}

/**
 * Compares the plan of each host with the state of the host. Returns the differences by host name. Changes
 * nothing.
 */
export async function readDiffs(
  plans: readonly NodePlan[],
  sessions: ReadonlyMap<string, Session>,
  options: { readonly fileContents: boolean; readonly renew: boolean },
  expected: (plan: NodePlan, ops: readonly Op[]) => readonly Op[] = (_, ops) => ops,
): Promise<ReadonlyMap<string, HostDiff>> {
  const shareOps = createOpsCache()
  const readDiff = async (plan: NodePlan, session: Session): Promise<readonly [string, HostDiff]> => {
    const diffs = await session.request({ type: 'diff', plan, ...options }, 'diff')
    return [plan.host, { ...diffs, ops: shareOps([...expected(plan, diffs.ops)]) }]
  }
  const all = await mapWithConcurrency(maxPlanRequests, plans, async (plan) => {
    const session = sessions.get(plan.host)
    return session === undefined ? [] : [await readDiff(plan, session)]
  })
  return new Map(all.flat())
}

/**
 * Returns the same array for equal ops. This saves memory, because most hosts of a large cluster have the
 * same ops.
 */
function createOpsCache(): (ops: Op[]) => Op[] {
  const known = new Map<string, Op[]>()
  return (ops) => {
    const digest = hash('sha256', JSON.stringify(ops))
    const shared = known.get(digest) ?? ops
    known.set(digest, shared)
    return shared
  }
}

/**
 * Computes the ops that remove everything that hyperkube installed on hosts, by host name. Changes nothing.
 */
export async function readRemovalOps(
  { metadata, id }: Pick<Identity, 'metadata' | 'id'>,
  sessions: ReadonlyMap<string, Pick<Session, 'request'>>,
): Promise<ReadonlyMap<string, readonly Op[]>> {
  const cluster: NodePlan['cluster'] = { name: metadata.name, id }
  const all = await settleAll(
    [...sessions].map(async ([host, session]) => {
      const plan = buildEmptyPlan(cluster, host)
      const diff = await unlessAgentMissing(session.request({ type: 'diff', plan }, 'diff'))
      return [host, diff?.ops ?? []] as const
    }),
  )
  return new Map(all)
}
