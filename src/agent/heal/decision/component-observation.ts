import type { ProbeHealth, ResourceDrift } from '../../../contract/health.ts'
import type { ProbeCheck } from '../../../contract/probe.ts'
import { isDown, type UnitState } from '../../host/service-manager.ts'
import { elapsed } from './elapsed.ts'

/** Reason why healing must not act on a component: starting it would risk data. */
export interface DataRisk {
  readonly code: string
  readonly because: string
  /** Command for the operator. */
  readonly hint: string
}

export interface ProbeObservation extends ProbeHealth {
  readonly kind: ProbeCheck['kind']
  /** Time of the last result of the probe, in milliseconds since 1970. */
  readonly observedAt?: number
  /** True if the last result is a hang and the state of the process confirms it. */
  readonly isConfirmedHang?: boolean
}

/** Everything that is known about one component at one time. */
export interface ComponentObservation {
  readonly component: string
  readonly needs: readonly string[]
  /** Undefined if the component has no service. */
  readonly unit?: UnitObservation
  readonly probes: readonly ProbeObservation[]
  /** Milliseconds that the slowest local probe of the component needs to detect a failure. */
  readonly slowestProbeMs: number
  /** Names of drifted resources that can be repaired. */
  readonly drifted: readonly string[]
  /** Drifted resources that cannot be repaired. */
  readonly unrepairable: readonly ResourceDrift[]
  readonly dataRisk?: DataRisk
  /** True if an operator stopped the service with hyperkube. Only a new plan starts it again. */
  readonly stoppedByOperator?: boolean
}

/**
 * Returns the probes that query the component itself. The `service` probe is excluded, because `unit`
 * contains the same information and more.
 */
export function listLocalProbes({
  probes,
}: Pick<ComponentObservation, 'probes'>): readonly ProbeObservation[] {
  return probes.filter(({ scope, kind }) => scope === 'local' && kind !== 'service')
}

/** Health of a component according to its unit and its local probes. Remote probes are ignored. */
export type ComponentCondition =
  | { readonly state: 'healthy' }
  /** The health cannot be determined, for example before the first probe results. */
  | { readonly state: 'unknown' }
  | {
      readonly state: 'unhealthy'
      readonly because: string
      readonly code?: string
      readonly since: number
      /** True if the state of the process confirms that it hangs, so the cause is not only a slow probe. */
      readonly isConfirmedHang?: boolean
    }

/** Milliseconds that a service may be down. A normal restart also stops the service for a moment. */
const maxDownMs = 10_000

export function assessComponent(observed: ComponentObservation, now: number): ComponentCondition {
  const { unit } = observed
  const localProbes = listLocalProbes(observed)
  const areHealthy = localProbes.length > 0 && localProbes.every(({ state }) => state === 'healthy')
  // If the probes succeed while the unit is down, a person may be running the program by hand. Healing then
  // leaves it alone.
  if (
    unit !== undefined &&
    !areHealthy &&
    localProbes.length > 0 &&
    measureDowntime(unit, now) >= maxDownMs
  ) {
    const because = `service is ${unit.state.active}${unit.state.result === 'success' ? '' : `, ${unit.state.result}`}`
    return { state: 'unhealthy', because, code: 'HEALTH_NOT_RUNNING', since: unit.changed }
  }
  const failing = localProbes.find(({ state }) => state === 'unhealthy')
  if (failing !== undefined) {
    const { probe, message, code, since, isConfirmedHang } = failing
    return {
      state: 'unhealthy',
      because: message === undefined ? `${probe} fails` : `${probe}: ${message}`,
      ...(code === undefined ? {} : { code }),
      since: Date.parse(since),
      ...(isConfirmedHang === undefined ? {} : { isConfirmedHang }),
    }
  }
  // Healthy probes take precedence over the unit state: etcd reports readiness to systemd only after its
  // peers are up.
  if (areHealthy) return { state: 'healthy' }
  const runs = unit === undefined || unit.state.active === 'active'
  return { state: localProbes.length === 0 && runs ? 'healthy' : 'unknown' }
}

/** True if all local probes have succeeded since the start of the service. */
export function isHealthySinceStart(observed: ComponentObservation): boolean {
  const { unit } = observed
  const localProbes = listLocalProbes(observed)
  return (
    unit !== undefined &&
    localProbes.length > 0 &&
    localProbes.every(({ state, observedAt = 0 }) => state === 'healthy' && observedAt > unit.started)
  )
}

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
  // If the restart count grew, systemd restarted the service by itself. A start by a person or by healing
  // resets the count and begins a new series of invocations.
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
