import type { ResourceDrift, ProbeHealth } from '../../../contract/health.ts'
import type { ProbeCheck } from '../../../contract/probe.ts'
import type { UnitObservation } from './unit-observation.ts'

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
}

/** Everything that is known about one component at one time. */
export interface ComponentObservation {
  readonly component: string
  readonly needs: readonly string[]
  /** Undefined if the component has no service. */
  readonly unit?: UnitObservation
  readonly probes: readonly ProbeObservation[]
  /** Milliseconds until the slowest local probe of the component counts as failing. */
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
 * Returns the probes that query the component itself. The `service` probe is excluded, because the unit
 * observation contains more.
 */
export function listLocalProbes({
  probes,
}: Pick<ComponentObservation, 'probes'>): readonly ProbeObservation[] {
  return probes.filter(({ scope, kind }) => scope === 'local' && kind !== 'service')
}
