import { type ComponentObservation, listLocalProbes } from './component-observation.ts'
import { measureDowntime } from './unit-observation.ts'

/** Health of a component according to its unit and its local probes. Remote probes are ignored. */
export type ComponentCondition =
  | { readonly state: 'healthy' }
  /** The health is not known, or not known yet. */
  | { readonly state: 'unknown' }
  | { readonly state: 'unhealthy'; readonly because: string; readonly code?: string; readonly since: number }

/** Milliseconds that a service may be down. A normal restart also stops the service for a moment. */
const maxDownMs = 10_000

export function assessComponent(observed: ComponentObservation, now: number): ComponentCondition {
  const { unit } = observed
  const localProbes = listLocalProbes(observed)
  const areHealthy = localProbes.length > 0 && localProbes.every(({ state }) => state === 'healthy')
  // If the probes succeed while the unit is down, a person may be running the program by hand, so leave it
  // alone.
  if (
    unit !== undefined &&
    !areHealthy &&
    localProbes.length > 0 &&
    measureDowntime(unit, now) >= maxDownMs
  ) {
    const because = `its service is ${unit.state.active}${unit.state.result === 'success' ? '' : `, ${unit.state.result}`}`
    return { state: 'unhealthy', because, code: 'HEALTH_NOT_RUNNING', since: unit.changed }
  }
  const failing = localProbes.find(({ state }) => state === 'unhealthy')
  if (failing !== undefined) {
    const { probe, message, code, since } = failing
    return {
      state: 'unhealthy',
      because: message === undefined ? `${probe} fails` : `${probe}: ${message}`,
      ...(code === undefined ? {} : { code }),
      since: Date.parse(since),
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
