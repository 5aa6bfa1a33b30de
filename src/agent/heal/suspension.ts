import { type HealPause, type HealState, maxHealPauseMs } from '../../contract/health.ts'
import { isLockHeld, type LockedByOtherDeps } from '../operator-lock/operator-lock.ts'
import type { Runs } from '../runs/runs.ts'
import type { HealStateStore } from './heal-state-store.ts'

export interface Suspension {
  readonly because: string
  readonly code?: string
}

/**
 * Returns why healing must not act now: a pause, an operator, a restore or a run. Returns undefined if
 * healing may act.
 */
export async function findSuspension(
  { host, work, claims, runs }: LockedByOtherDeps & { readonly runs: Pick<Runs, 'busy'> },
  healState: HealState,
): Promise<Suspension | undefined> {
  const restoring = (await work.activeRestore()) !== undefined
  const now = host.clock.now().getTime()
  const paused = findActivePause(healState, now)
  if (paused !== undefined)
    return { because: `healing is paused by ${paused.by} until ${paused.until}`, code: 'HEAL_PAUSED' }
  if (restoring) return { because: 'etcd is being restored' }
  if (claims.held !== undefined && isLockHeld(claims.held, now))
    return { because: `${claims.held.holder} holds the operator lock` }
  return runs.busy ? { because: 'a run is in progress' } : undefined
}

/**
 * Pauses healing for this many milliseconds. 0 ends the pause and deletes exhausted escalations, so that
 * healing tries those components again. Returns the active pause, if there is one.
 */
export async function setPause(
  healState: HealStateStore,
  milliseconds: number,
  by: string,
  now: number,
): Promise<HealPause | undefined> {
  const until = new Date(now + milliseconds).toISOString()
  await healState.update(({ paused: _before, ...rest }) =>
    milliseconds === 0 ? withoutExhausted(rest) : { ...rest, paused: { until, by } },
  )
  return findActivePause(healState.current, now)
}

function withoutExhausted(healState: HealState): HealState {
  const open = Object.entries(healState.escalations).filter(([, { exhausted }]) => !exhausted)
  return { ...healState, escalations: Object.fromEntries(open) }
}

/**
 * Returns the active pause, if there is one. If a pause would last longer than the maximum, the clock was set
 * back, and the pause is ignored.
 */
export function findActivePause({ paused }: Pick<HealState, 'paused'>, now: number): HealPause | undefined {
  if (paused === undefined) return undefined
  const left = Date.parse(paused.until) - now
  return left > 0 && left <= maxHealPauseMs ? paused : undefined
}
