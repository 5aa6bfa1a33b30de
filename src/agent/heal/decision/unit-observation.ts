import { isDown, type UnitState } from '../../host/systemd.ts'
import { elapsed } from './elapsed.ts'

/** A unit, with what only those know who have looked before. Times are milliseconds since 1970. */
export interface UnitSeen {
  readonly name: string
  readonly state: UnitState
  /** Since when it is in its present life. */
  readonly started: number
  /** Since when its lives are such that it was never well in one: systemd starts again and again what ends at once. */
  readonly row: number
  /** Since when `state.active` is what it is. */
  readonly changed: number
  /** Whether it was well in this life. */
  readonly wasWell: boolean
}

export function nextUnit(
  name: string,
  before: UnitSeen | undefined,
  state: UnitState,
  now: number,
): UnitSeen {
  if (before === undefined) return { name, state, started: now, row: now, changed: now, wasWell: false }
  const changed = before.state.active === state.active ? before.changed : now
  if (before.state.invocation === state.invocation) return { ...before, state, changed }
  // Whoever starts it on purpose begins anew, and the count of systemd does too.
  const again = state.restarts > before.state.restarts && !before.wasWell
  return { name, state, started: now, row: again ? before.row : now, changed, wasWell: false }
}

/** How long it is down: nothing of it runs, and nobody is about to start it. */
export function downFor({ state, changed }: UnitSeen, now: number): number {
  return isDown(state) ? elapsed(changed, now) : 0
}

/**
 * Whether it ends by itself, again and again. systemd starts it anyway, and soon: to restart it would add nothing. One
 * that lives and says nothing does not.
 */
export function endsByItself({ state, started }: UnitSeen, grace: number, now: number): boolean {
  if (isDown(state)) return false
  return state.sub.startsWith('auto-restart') || elapsed(started, now) < grace
}
