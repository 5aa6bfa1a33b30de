import { isDown, type UnitState } from '../../host/systemd.ts'
import { elapsed } from './elapsed.ts'

/** State of a unit, completed with data from earlier observations. Times are milliseconds since 1970. */
export interface UnitObservation {
  readonly name: string
  readonly state: UnitState
  /** When the current invocation started. */
  readonly started: number
  /**
   * Start of the first invocation since the service was last healthy. systemd restarts a crashing service, so
   * `started` is often later.
   */
  readonly neverHealthySince: number
  /** Time at which `state.active` got its current value. */
  readonly changed: number
  /** True if the current invocation was healthy at any time. */
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
  // A deliberate start begins a new series of invocations; systemd then also resets its restart count.
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

/** Returns how long the unit has been down, in milliseconds. Returns 0 while it runs or is about to start. */
export function measureDowntime({ state, changed }: UnitObservation, now: number): number {
  return isDown(state) ? elapsed(changed, now) : 0
}

/**
 * True if the service exits again and again. systemd already restarts it, so another restart would not help.
 * A process that runs but does not respond is not a crash loop.
 */
export function isCrashLooping({ state, started }: UnitObservation, grace: number, now: number): boolean {
  if (isDown(state)) return false
  return state.sub.startsWith('auto-restart') || elapsed(started, now) < grace
}
