import type { HealMemory } from '../../contract/heal-state.ts'
import { longestPause, type HealPause } from '../../contract/health.ts'
import { isHeld } from '../operator-lock/operator-lock.ts'
import type { TakenScene } from '../loop/is-locked-by-other.ts'
import type { Runs } from '../runs/runs.ts'
import type { KeptMemory } from './heal-state-store.ts'

export interface Idle {
  readonly because: string
  readonly code?: string
}

/** Why nothing is healed now, whatever is found: somebody else decides what is done here. */
export async function idleNow(
  { host, work, claims, runs }: TakenScene & { readonly runs: Pick<Runs, 'busy'> },
  memory: HealMemory,
): Promise<Idle | undefined> {
  const restoring = (await work.restoring()) !== undefined
  const now = host.clock.now().getTime()
  const paused = pauseNow(memory, now)
  if (paused !== undefined)
    return { because: `healing is paused by ${paused.by} until ${paused.until}`, code: 'HEAL_PAUSED' }
  if (restoring) return { because: 'etcd is being restored' }
  if (claims.held !== undefined && isHeld(claims.held, now))
    return { because: `${claims.held.holder} is at work` }
  return runs.busy ? { because: 'a run is under way' } : undefined
}

/** For so many milliseconds; 0 ends a pause. Answers with the one that counts from now on. */
export async function pauseFor(
  memory: KeptMemory,
  milliseconds: number,
  by: string,
  now: number,
): Promise<HealPause | undefined> {
  const until = new Date(now + milliseconds).toISOString()
  await memory.change(({ paused: _before, ...rest }) =>
    milliseconds === 0 ? rest : { ...rest, paused: { until, by } },
  )
  return pauseNow(memory.now, now)
}

/** One that is not over. None lasts longer than anybody may ask for, though the clock was set back. */
export function pauseNow({ paused }: Pick<HealMemory, 'paused'>, now: number): HealPause | undefined {
  if (paused === undefined) return undefined
  const left = Date.parse(paused.until) - now
  return left > 0 && left <= longestPause ? paused : undefined
}
