import type { HostProvisionalChange } from '../../contract/provisional-change.ts'
import type { Claim } from '../../contract/request.ts'
import { HyperkubeError } from '../../kit/errors.ts'
import { settleAll } from '../../kit/concurrency.ts'
import type { Session } from '../agents/session.ts'
import type { PlannedProvisionalChange } from './plan-provisional.ts'

/** Id of the provisional change of each host, by host name. */
type ProvisionalIds = ReadonlyMap<string, { readonly id: string }>
type Agents = ReadonlyMap<string, Pick<Session, 'request'>>

/**
 * Begins the provisional change before any other change is made. From then on the hosts roll back by
 * themselves if no operator confirms the change.
 */
export async function beginProvisionalChange(
  { id, durationMs, hosts }: PlannedProvisionalChange,
  agents: Agents,
  claim: Claim,
): Promise<void> {
  await forEachHost(hosts, agents, async (agent, { plan, rollbackDelayMs }) => {
    const deadline = await computeDeadline(agent, durationMs)
    await agent.request(
      { type: 'begin-provisional', claim, provisional: { id, plan, deadline, rollbackDelayMs } },
      'provisional',
    )
  })
}

/**
 * Called after the rollout. Moves the deadlines, so that the provisional time starts at the end of the
 * rollout.
 */
export async function extendProvisionalChange(
  { id, durationMs, hosts }: PlannedProvisionalChange,
  agents: Agents,
  claim: Claim,
): Promise<void> {
  await forEachHost(hosts, agents, async (agent, _, host) => {
    const provisional = await moveDeadline(agent, claim, id, durationMs)
    if (provisional?.state !== 'provisional') throw buildEndedError(host)
  })
}

/**
 * Starts the rollback on all hosts by moving their deadline to now. Each host still waits for its own delay,
 * so that not all hosts roll back together.
 */
export async function rollBackProvisionalChange(
  provisionalChanges: ProvisionalIds,
  agents: Agents,
  claim: Claim,
): Promise<void> {
  await forEachHost(provisionalChanges, agents, async (agent, { id }) => moveDeadline(agent, claim, id, 0))
}

/** Confirms the change on all hosts. Returns the hosts that had already rolled back. */
export async function confirmProvisionalChange(
  provisionalChanges: ProvisionalIds,
  agents: Agents,
  claim: Claim,
): Promise<string[]> {
  const rolledBack = await forEachHost(provisionalChanges, agents, async (agent, { id }, host) => {
    const { provisional } = await agent.request({ type: 'confirm-provisional', claim, id }, 'provisional')
    return provisional === undefined ? [] : [host]
  })
  return rolledBack.flat()
}

async function moveDeadline(
  agent: Pick<Session, 'request'>,
  claim: Claim,
  id: string,
  delayMs: number,
): Promise<HostProvisionalChange | undefined> {
  const deadline = await computeDeadline(agent, delayMs)
  return (await agent.request({ type: 'move-provisional', claim, id, deadline }, 'provisional')).provisional
}

/** Computes a deadline by the clock of the host, because the host checks it by that clock. */
async function computeDeadline(agent: Pick<Session, 'request'>, delayMs: number): Promise<string> {
  const { time } = await agent.request({ type: 'clock' }, 'clock')
  return new Date(time + delayMs).toISOString()
}

async function forEachHost<T, R>(
  hosts: ReadonlyMap<string, T>,
  agents: Agents,
  work: (agent: Pick<Session, 'request'>, value: T, host: string) => Promise<R>,
): Promise<R[]> {
  return settleAll(
    [...hosts].flatMap(([host, value]) => {
      const agent = agents.get(host)
      return agent === undefined ? [] : [work(agent, value, host)]
    }),
  )
}

function buildEndedError(host: string): HyperkubeError {
  return new HyperkubeError('PROVISIONAL_ENDED', 'its provisional change has ended', {
    host,
    hint: 'hyperkube plan shows the pending changes; the same command applies them again',
  })
}
