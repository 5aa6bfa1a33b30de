import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { Probe } from '../../contract/probe.ts'

/** Result of one probe run. `unknown`: the probe could not run, which says nothing about the component. */
export type ProbeResult =
  | { readonly state: 'healthy' }
  | { readonly state: 'unhealthy'; readonly message: string; readonly code?: string }
  | { readonly state: 'unknown'; readonly message: string }

/**
 * Runs a probe once. Always returns a result within the probe's timeout; rejects only if the signal aborts.
 */
export type RunProbe = (probe: Probe, component: ComponentPlan, signal: AbortSignal) => Promise<ProbeResult>
