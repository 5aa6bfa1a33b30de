import { type ComponentObservation, listLocalProbes } from './component-observation.ts'
import { measureDowntime } from './unit-observation.ts'

/** Health of a component from its own local probes and unit. Remote probes are ignored. */
export type ComponentCondition =
  | { readonly state: 'healthy' }
  /** Not known, or not yet. */
  | { readonly state: 'unknown' }
  | { readonly state: 'unhealthy'; readonly because: string; readonly code?: string; readonly since: number }

/** How long a service may be down, in milliseconds: a restart stops the service first. */
const maxDownMs = 10_000

export function assessComponent(observed: ComponentObservation, now: number): ComponentCondition {
  const { unit } = observed
  const localProbes = listLocalProbes(observed)
  const areHealthy = localProbes.length > 0 && localProbes.every(({ state }) => state === 'healthy')
  // If the probes succeed while the unit is down, a person runs the program by hand; leave it alone.
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
  // Healthy probes win over the unit state: etcd reports readiness to systemd only when its peers are up.
  if (areHealthy) return { state: 'healthy' }
  const runs = unit === undefined || unit.state.active === 'active'
  return { state: localProbes.length === 0 && runs ? 'healthy' : 'unknown' }
}

/** Whether all local probes succeeded since the service was started. */
export function isHealthySinceStart(observed: ComponentObservation): boolean {
  const { unit } = observed
  const localProbes = listLocalProbes(observed)
  return (
    unit !== undefined &&
    localProbes.length > 0 &&
    localProbes.every(({ state, observedAt = 0 }) => state === 'healthy' && observedAt > unit.started)
  )
}
