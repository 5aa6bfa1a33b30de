import { type ClaimWish, type HeldClaim, takeClaim } from '../../lifecycle/claim.ts'
import type { Session } from '../../lifecycle/session.ts'
import type { Wish } from '../../lifecycle/build-proposal.ts'
import type { Context } from '../command.ts'
import { holderName, isAlive, isGone } from '../lock-holder.ts'
import type { ReportedRun } from '../run-with-progress.ts'
import type { Reached } from './connect.ts'

export interface ClaimScene extends Pick<Reached, 'wish' | 'crew'> {
  /** Those who leave are told as well. */
  readonly leavers?: Pick<Reached['leavers'], 'sessions'>
  readonly context: Pick<Context, 'operator' | 'signal'>
  readonly run: ReportedRun
  readonly forceUnlock: boolean
  /** Whether fewer than most control planes are enough, when somebody has forced it. */
  readonly minority?: boolean
}

/** Does something that nobody else may do meanwhile. The claim is given back whatever happens; when it is lost, the signal says so. */
export async function underClaim<T>(
  { context, wish, crew, leavers, run, forceUnlock, minority = false }: ClaimScene,
  work: (held: HeldClaim, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { operator, signal } = context
  const held = await takeClaim({
    ...grantersOf(wish, [...crew.sessions.values(), ...(leavers?.sessions.values() ?? [])]),
    holder: holderName(operator, process.pid),
    force: forceUnlock,
    minority: minority && forceUnlock,
    isGone: (other) => isGone(other, operator, isAlive),
  })
  const lost = (): void => run.tell({ type: 'stopping', because: 'claim-lost' })
  held.lost.addEventListener('abort', lost, { once: true })
  try {
    return await work(held, AbortSignal.any([signal, held.lost]))
  } finally {
    held.lost.removeEventListener('abort', lost)
    await held.release()
  }
}

/** Control planes grant a claim together, and the others are told. */
function grantersOf(
  { cluster }: Wish,
  agents: readonly Session[],
): Pick<ClaimWish, 'granters' | 'others' | 'controlPlanes'> {
  const controlPlanes = new Set(
    cluster.spec.hosts.filter(({ roles }) => roles.includes('control-plane')).map(({ name }) => name),
  )
  return {
    granters: agents.filter(({ host }) => controlPlanes.has(host)),
    others: agents.filter(({ host }) => !controlPlanes.has(host)),
    controlPlanes: controlPlanes.size,
  }
}
