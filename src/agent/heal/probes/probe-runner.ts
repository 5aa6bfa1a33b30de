import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { Probe, ProbeCheck } from '../../../contract/probe.ts'
import { toPrintable } from '../../../kit/text.ts'

export type CheckKind = ProbeCheck['kind']
export type ChecksByKind = { readonly [K in CheckKind]: Extract<ProbeCheck, { kind: K }> }

/** A probe and the component to which it belongs. */
export interface ProbeTarget {
  readonly probe: Probe
  readonly component: ComponentPlan
}

/** Runs a check of one kind. It throws if the check could not run. The signal aborts at the timeout. */
export type ProbeRunner<K extends CheckKind> = (
  check: ChecksByKind[K],
  signal: AbortSignal,
  target: ProbeTarget,
) => Promise<ProbeResult>

export const healthyResult: ProbeResult = { state: 'healthy' }

export function failedResult(code: string, message: string): ProbeResult {
  return { state: 'unhealthy', code, message: shorten(message) }
}

export function unknownResult(message: string): ProbeResult {
  return { state: 'unknown', message: shorten(message) }
}

/**
 * Shortens text to one line of 300 characters, which also limits how much output of other programs is stored.
 */
function shorten(text: string): string {
  return toPrintable(text.trim().replaceAll(/\s*\n\s*/g, '; ')).slice(0, 300)
}

/**
 * Result of one probe run. `unknown` means that the probe could not run, so the health of the component is
 * not known.
 */
export type ProbeResult =
  | { readonly state: 'healthy' }
  | {
      readonly state: 'unhealthy'
      readonly message: string
      readonly code?: string
      /** True if an independent sign confirms the failure, so that no further failures are needed. */
      readonly isConfirmed?: boolean
    }
  | { readonly state: 'unknown'; readonly message: string }

/**
 * Runs a probe once. Always returns a result within the timeout of the probe; rejects only if the signal
 * aborts.
 */
export type RunProbe = (probe: Probe, component: ComponentPlan, signal: AbortSignal) => Promise<ProbeResult>
