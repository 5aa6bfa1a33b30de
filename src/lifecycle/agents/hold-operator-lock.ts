import { setTimeout as sleep } from 'node:timers/promises'
import type { Claim } from '../../contract/request.ts'
import { hasCode, HyperkubeError } from '../../kit/errors.ts'
import { settleAll } from '../../kit/concurrency.ts'
import { quorumSize } from '../../kit/quorum.ts'
import { unlessAgentMissing } from './missing-agent.ts'
import type { Session } from './session.ts'

/**
 * Milliseconds between two renewals of the lock. Agents release a lock that was not renewed for
 * `lockTimeoutMs` (src/agent/operator-lock). This timeout is long enough that one lost renewal does no harm.
 */
const renewalIntervalMs = 20_000
/**
 * Milliseconds to wait for the release of the lock. Long enough to reconnect to a host whose connection was
 * just lost.
 */
const releaseTimeoutMs = 10_000

type LockAgents = readonly Pick<Session, 'request' | 'following' | 'host'>[]

export interface OperatorLockOptions {
  /** Reachable agents of control planes. A majority of control planes grants the lock. */
  readonly granters: LockAgents
  /** All other agents. They do not vote on the lock but are informed of it. */
  readonly others: LockAgents
  /** Number of control planes, reachable or not. */
  readonly controlPlanes: number
  readonly holder: string
  /** True to take the lock even from an active holder. */
  readonly force: boolean
  /** True if the lock may be taken with all reachable control planes, even if they are not a majority. */
  readonly allowMinority?: boolean
  /**
   * True if control planes grant the lock whose agents have removed themselves since the connection. A killed
   * rollback or reset continues on its host, also on the only control plane.
   */
  readonly allowMissing?: boolean
  /** True if the holder was a process on the machine of this operator and has ended. */
  readonly isGone: (holder: string) => boolean
}

export interface OperatorLock {
  readonly claim: Claim
  /** Aborted when another operator takes the lock. */
  readonly lost: AbortSignal
  /** Stops renewing the lock on a host that was removed from the cluster. */
  readonly forgetHost: (host: string) => void
  release(): Promise<void>
}

/**
 * Acquires the operator lock from a majority of all control planes. The lock expires unless it is renewed, so
 * a dead process loses it.
 */
export async function acquireOperatorLock(options: OperatorLockOptions): Promise<OperatorLock> {
  const { granters, others, controlPlanes, holder, force, isGone } = options
  const { allowMinority = false, allowMissing = false } = options
  const previous = await readPreviousClaims([...granters, ...others])
  // Two operators may request the same generation at the same time. Only one of them gets a majority, and
  // with it the lock.
  const claim = { holder, generation: Math.max(0, ...previous.map(({ generation }) => generation)) + 1 }
  const isAbandoned = previous.length > 0 && previous.every((one) => isGone(one.holder))
  const results = await Promise.allSettled(
    granters.map(async (agent) => {
      const claimed = agent.request({ type: 'claim', claim, force: force || isAbandoned }, 'claimed')
      return allowMissing ? unlessAgentMissing(claimed) : claimed
    }),
  )
  const granted = results.filter(({ status }) => status === 'fulfilled').length
  const needed = allowMinority ? granters.length : quorumSize(controlPlanes)
  if (granted < needed) {
    await release(granters, claim)
    throw buildRefusal(results, granted, needed, controlPlanes)
  }
  const agents = [...granters, ...others]
  try {
    requireStored(results)
    // A majority has granted the lock, so the other agents must accept it.
    await settleAll(
      others.map(async (agent) =>
        unlessAgentMissing(agent.request({ type: 'claim', claim, force: true }, 'claimed')),
      ),
    )
  } catch (error) {
    await release(agents, claim)
    throw error
  }
  return holdLock(agents, claim)
}

/**
 * Throws if a host cannot store the lock because its disk is full. It would refuse each later request, as if another
 * operator had taken the lock.
 */
function requireStored(results: readonly PromiseSettledResult<unknown>[]): void {
  for (const result of results)
    if (result.status === 'rejected' && hasCode(result.reason, 'APPLY_DISK_FULL')) throw result.reason
}

function holdLock(agents: LockAgents, claim: Claim): OperatorLock {
  const lost = new AbortController()
  const forgotten = new Set<string>()
  const remaining = (): LockAgents => agents.filter(({ host }) => !forgotten.has(host))
  const timer = setInterval(() => {
    renew(remaining(), claim).catch((error: unknown) => lost.abort(error))
  }, renewalIntervalMs)
  return {
    claim,
    lost: lost.signal,
    forgetHost: (host) => void forgotten.add(host),
    async release() {
      clearInterval(timer)
      await release(remaining(), claim)
    },
  }
}

async function readPreviousClaims(agents: LockAgents): Promise<Claim[]> {
  const hellos = await settleAll(
    agents.map(async (agent) => unlessAgentMissing(agent.request({ type: 'hello' }, 'hello'))),
  )
  return hellos.flatMap((hello) => hello?.claim ?? [])
}

/**
 * Renews the lock. Errors of unreachable agents are ignored. If an agent refuses because another operator
 * holds the lock, the refusal is thrown.
 */
async function renew(agents: LockAgents, claim: Claim): Promise<void> {
  // The lock does not expire on a host that executes a run for this operator, so no renewal is sent to such a
  // host.
  const idle = agents.filter(({ following }) => !following)
  const results = await Promise.allSettled(
    idle.map(async (agent) => agent.request({ type: 'claim', claim, force: false }, 'claimed')),
  )
  for (const result of results) {
    if (result.status === 'rejected' && isRefusal(result.reason)) throw result.reason
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof HyperkubeError && error.code.startsWith('CLAIM_')
}

/** Releases the lock on all agents. On agents that do not receive the request in time, the lock expires. */
async function release(agents: LockAgents, claim: Claim): Promise<void> {
  const released = agents.map(async (agent) => agent.request({ type: 'release', claim }, 'released'))
  await Promise.race([Promise.allSettled(released), sleep(releaseTimeoutMs, undefined, { ref: false })])
}

/** Removes the host name from a refusal, because the refusal applies to the whole cluster. */
function dropHost(error: unknown): unknown {
  if (!(error instanceof HyperkubeError) || !isRefusal(error)) return error
  const { code, message, hint } = error
  return new HyperkubeError(code, message, hint === undefined ? {} : { hint })
}

function buildRefusal(
  results: readonly PromiseSettledResult<unknown>[],
  granted: number,
  needed: number,
  controlPlanes: number,
): unknown {
  const refused = results.find((result) => result.status === 'rejected')
  if (refused !== undefined) return dropHost(refused.reason)
  return new HyperkubeError(
    'CLAIM_NO_MAJORITY',
    `only ${granted} of ${controlPlanes} control planes are reachable; the operator lock needs ${needed}`,
    { hint: 'find the unreachable hosts: hyperkube doctor; then run the same command again' },
  )
}
