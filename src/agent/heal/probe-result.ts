import type { ComponentPlan } from '../../contract/component-plan.ts'
import type { Probe } from '../../contract/probe.ts'

/**
 * Result of one probe run. `unknown` means that the probe could not run, so the health of the component is
 * not known.
 */
export type ProbeResult =
  | { readonly state: 'healthy' }
  | { readonly state: 'unhealthy'; readonly message: string; readonly code?: string }
  | { readonly state: 'unknown'; readonly message: string }

/**
 * Runs a probe once. Always returns a result within the timeout of the probe; rejects only if the signal
 * aborts.
 */
export type RunProbe = (probe: Probe, component: ComponentPlan, signal: AbortSignal) => Promise<ProbeResult>
