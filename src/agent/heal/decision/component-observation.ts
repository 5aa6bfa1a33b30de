import type { Drift, ProbeHealth } from '../../../contract/health.ts'
import type { ProbeCheck } from '../../../contract/probe.ts'
import type { UnitSeen } from './unit-observation.ts'

/** Why a component is not to be touched: whoever started it would risk data. */
export interface Danger {
  readonly code: string
  readonly because: string
  /** What a person types. */
  readonly hint: string
}

export interface ProbeSeen extends ProbeHealth {
  readonly kind: ProbeCheck['kind']
  /** When there was an answer last: milliseconds since 1970. */
  readonly asked?: number
}

/** All that is known of one component, at one time. */
export interface ComponentSeen {
  readonly component: string
  readonly needs: readonly string[]
  /** None where it has no service. */
  readonly unit?: UnitSeen
  readonly probes: readonly ProbeSeen[]
  /** How long its slowest local probe takes to count as failing, in milliseconds. */
  readonly slowest: number
  /** Names of what is not as it was put there, and can be put back. */
  readonly drifted: readonly string[]
  /** What cannot. */
  readonly beyond: readonly Drift[]
  readonly danger?: Danger
  /** Its service was stopped by an operator, through us: who wants it to run says so with a plan. */
  readonly stopped?: boolean
}

/** Those that ask the component itself. What its supervisor says is seen with the unit, where it means more than yes or no. */
export function localProbes({ probes }: Pick<ComponentSeen, 'probes'>): readonly ProbeSeen[] {
  return probes.filter(({ scope, kind }) => scope === 'local' && kind !== 'service')
}
