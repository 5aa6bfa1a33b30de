import { isDown, type UnitState } from '../../host/systemd.ts'
import { elapsed } from './elapsed.ts'

/** The state of a unit, with what only earlier observations show. Times are milliseconds since 1970. */
export interface UnitObservation {
  readonly name: string
  readonly state: UnitState
  /** When the current invocation started. */
  readonly started: number
  /** Since when no invocation was healthy: systemd restarts a crashing service again and again. */
  readonly neverHealthySince: number
  /** Since when `state.active` has its current value. */
  readonly changed: number
  /** Whether the current invocation was healthy. */
  readonly wasHealthy: boolean
}

export function updateUnitObservation(
  name: string,
  before: UnitObservation | undefined,
  state: UnitState,
  now: number,
): UnitObservation {
  if (before === undefined)
    return { name, state, started: now, neverHealthySince: now, changed: now, wasHealthy: false }
  const changed = before.state.active === state.active ? before.changed : now
  if (before.state.invocation === state.invocation) return { ...before, state, changed }
  // A deliberate start begins a new series; systemd resets its restart count then too.
  const isRetry = state.restarts > before.state.restarts && !before.wasHealthy
  return {
    name,
    state,
    started: now,
    neverHealthySince: isRetry ? before.neverHealthySince : now,
    changed,
    wasHealthy: false,
  }
}

/** How long the unit is down, in milliseconds. 0 while it runs or is about to start. */
export function measureDowntime({ state, changed }: UnitObservation, now: number): number {
  return isDown(state) ? elapsed(changed, now) : 0
}

/**
 * Whether the service exits again and again. systemd restarts it soon, so a restart would add nothing. A
 * process that runs and does not respond is no crash loop.
 */
export function isCrashLooping({ state, started }: UnitObservation, grace: number, now: number): boolean {
  if (isDown(state)) return false
  return state.sub.startsWith('auto-restart') || elapsed(started, now) < grace
}
