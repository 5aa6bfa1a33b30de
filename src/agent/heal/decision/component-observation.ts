import type { ResourceDrift, ProbeHealth } from '../../../contract/health.ts'
import type { ProbeCheck } from '../../../contract/probe.ts'
import type { UnitObservation } from './unit-observation.ts'

/** Why a component must not be touched: starting it would risk data. */
export interface DataRisk {
  readonly code: string
  readonly because: string
  /** The command that an operator types. */
  readonly hint: string
}

export interface ProbeObservation extends ProbeHealth {
  readonly kind: ProbeCheck['kind']
  /** When the probe last returned a result: milliseconds since 1970. */
  readonly observedAt?: number
}

/** Everything known about one component at one time. */
export interface ComponentObservation {
  readonly component: string
  readonly needs: readonly string[]
  /** Undefined if the component has no service. */
  readonly unit?: UnitObservation
  readonly probes: readonly ProbeObservation[]
  /** How long its slowest local probe takes to count as failing, in milliseconds. */
  readonly slowestProbeMs: number
  /** Names of drifted resources that can be repaired. */
  readonly drifted: readonly string[]
  /** Drifted resources that cannot be repaired. */
  readonly unrepairable: readonly ResourceDrift[]
  readonly dataRisk?: DataRisk
  /** An operator stopped its service through hyperkube; only a new plan starts it again. */
  readonly stoppedByOperator?: boolean
}

/**
 * Returns the probes that query the component itself. The supervisor's `service` probe is excluded: the unit
 * observation says more.
 */
export function listLocalProbes({
  probes,
}: Pick<ComponentObservation, 'probes'>): readonly ProbeObservation[] {
  return probes.filter(({ scope, kind }) => scope === 'local' && kind !== 'service')
}
