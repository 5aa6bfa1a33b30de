import type { ProbeHealth } from '../../../contract/health.ts'
import type { Probe } from '../../../contract/probe.ts'
import type { ProbeResult } from '../probes/probe-runner.ts'
import type { ProbeObservation } from './component-observation.ts'

/** Latest results of one probe. */
export interface ProbeRecord extends ProbeObservation {
  /** Number of consecutive failures. */
  readonly failures: number
}

export function createProbeRecord(component: string, probe: Probe, now: number): ProbeRecord {
  return {
    component,
    probe: probe.name,
    scope: probe.scope,
    kind: probe.check.kind,
    state: 'unknown',
    since: new Date(now).toISOString(),
    failures: 0,
  }
}

/** Returns the record of a probe, updated with a new result. */
export function recordProbeResult(
  before: ProbeRecord,
  probe: Probe,
  result: ProbeResult,
  now: number,
): ProbeRecord {
  const { component, probe: name, scope, kind } = before
  const failures = result.state === 'unhealthy' ? before.failures + 1 : 0
  const isConfirmed = result.state === 'unhealthy' && result.isConfirmed === true
  const state = toProbeState(result, isConfirmed || failures >= probe.failureThreshold)
  return {
    component,
    probe: name,
    scope,
    kind,
    state,
    since: state === before.state ? before.since : new Date(now).toISOString(),
    ...(result.state === 'healthy' ? {} : { message: result.message }),
    ...(result.state === 'unhealthy' && result.code !== undefined ? { code: result.code } : {}),
    ...(isConfirmed ? { isConfirmedHang: true } : {}),
    failures,
    observedAt: now,
  }
}

function toProbeState({ state }: ProbeResult, hasReachedLimit: boolean): ProbeHealth['state'] {
  if (state !== 'unhealthy') return state
  return hasReachedLimit ? 'unhealthy' : 'degraded'
}

/** Returns the part of the record that is reported. */
export function toProbeHealth({
  kind: _kind,
  observedAt: _observedAt,
  failures: _failures,
  isConfirmedHang: _isConfirmedHang,
  ...health
}: ProbeRecord): ProbeHealth {
  return health
}
