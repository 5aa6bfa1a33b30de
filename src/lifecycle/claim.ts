import { setTimeout as sleep } from 'node:timers/promises'
import type { Claim } from '../contract/request.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { settleAll } from '../kit/settle-all.ts'
import type { Session } from './session.ts'

/** Often enough that one lost turn does not lose the claim. */
const renewal = 20_000
/** A way that was lost a moment ago is found again by then. */
const farewell = 10_000

type Agents = readonly Pick<Session, 'ask' | 'following' | 'host'>[]

export interface ClaimWish {
  /** The agents of control planes that answer: they grant it together. */
  readonly granters: Agents
  /** All other agents, who are told. */
  readonly others: Agents
  /** How many control planes there are, whether or not they answer. */
  readonly controlPlanes: number
  readonly holder: string
  /** Also from somebody who is still there. */
  readonly force: boolean
  /** Whether those who answer are enough, though they are not most. */
  readonly minority?: boolean
  /** Whether a holder is known to be no more: a process of this machine that has ended. */
  readonly isGone: (holder: string) => boolean
}

export interface HeldClaim {
  readonly claim: Claim
  /** Aborted when the claim is somebody else's. */
  readonly lost: AbortSignal
  /** A host has left the cluster, and need not be told any more. */
  readonly leave: (host: string) => void
  release(): Promise<void>
}

/**
 * Takes the claim from a majority of the control planes there are. It lasts as long as it is renewed, so that it goes
 * with a process that dies.
 */
export async function takeClaim(wish: ClaimWish): Promise<HeldClaim> {
  const { granters, others, controlPlanes, holder, force, minority = false, isGone } = wish
  const former = await formerClaims([...granters, ...others])
  // Of two who ask at once, both with the same one, only one gets a majority.
  const claim = { holder, generation: Math.max(0, ...former.map(({ generation }) => generation)) + 1 }
  const dead = former.length > 0 && former.every((one) => isGone(one.holder))
  const results = await Promise.allSettled(
    granters.map(async (agent) => agent.ask({ type: 'claim', claim, force: force || dead }, 'claimed')),
  )
  const granted = results.filter(({ status }) => status === 'fulfilled').length
  const needed = minority ? granters.length : Math.floor(controlPlanes / 2) + 1
  if (granted < needed) {
    await release(granters, claim)
    throw refusal(results, granted, needed, controlPlanes)
  }
  // A majority stands behind it, so the others have no say.
  await settleAll(others.map(async (agent) => agent.ask({ type: 'claim', claim, force: true }, 'claimed')))
  return keep([...granters, ...others], claim)
}

function keep(agents: Agents, claim: Claim): HeldClaim {
  const lost = new AbortController()
  const left = new Set<string>()
  const staying = (): Agents => agents.filter(({ host }) => !left.has(host))
  const timer = setInterval(() => {
    renew(staying(), claim).catch((error: unknown) => lost.abort(error))
  }, renewal)
  return {
    claim,
    lost: lost.signal,
    leave: (host) => void left.add(host),
    async release() {
      clearInterval(timer)
      await release(staying(), claim)
    },
  }
}

async function formerClaims(agents: Agents): Promise<Claim[]> {
  const hellos = await settleAll(agents.map(async (agent) => agent.ask({ type: 'hello' }, 'hello')))
  return hellos.flatMap(({ claim }) => claim ?? [])
}

/** One that is silent for a moment keeps the claim in mind; one that has another is the end of it. */
async function renew(agents: Agents, claim: Claim): Promise<void> {
  // A host that is at work for us knows that we are there.
  const idle = agents.filter(({ following }) => !following)
  const results = await Promise.allSettled(
    idle.map(async (agent) => agent.ask({ type: 'claim', claim, force: false }, 'claimed')),
  )
  for (const result of results) {
    if (result.status === 'rejected' && isRefusal(result.reason)) throw result.reason
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof HyperkubeError && error.code.startsWith('CLAIM_')
}

/** Whoever does not hear it in time forgets the claim by itself. */
async function release(agents: Agents, claim: Claim): Promise<void> {
  const released = agents.map(async (agent) => agent.ask({ type: 'release', claim }, 'released'))
  await Promise.race([Promise.allSettled(released), sleep(farewell, undefined, { ref: false })])
}

/** One host says it, and it is so for the cluster. */
function asOfAll(error: unknown): unknown {
  if (!(error instanceof HyperkubeError) || !isRefusal(error)) return error
  const { code, message, hint } = error
  return new HyperkubeError(code, message, hint === undefined ? {} : { hint })
}

function refusal(
  results: readonly PromiseSettledResult<unknown>[],
  granted: number,
  needed: number,
  controlPlanes: number,
): unknown {
  const refused = results.find((result) => result.status === 'rejected')
  if (refused !== undefined) return asOfAll(refused.reason)
  return new HyperkubeError(
    'CLAIM_NO_MAJORITY',
    `${granted} of ${controlPlanes} control planes answer; ${needed} must, or two operators could work at once`,
    { hint: 'bring them back first' },
  )
}
