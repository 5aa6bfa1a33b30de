import type { ComponentPlan } from '../../../contract/component-plan.ts'
import type { Probe, ProbeCheck } from '../../../contract/probe.ts'
import { toPrintable } from '../../../kit/printable.ts'
import type { ProbeResult } from '../probe-result.ts'

export type CheckKind = ProbeCheck['kind']
export type ChecksByKind = { readonly [K in CheckKind]: Extract<ProbeCheck, { kind: K }> }

/** The probe that runs, and its component. */
export interface ProbeTarget {
  readonly probe: Probe
  readonly component: ComponentPlan
}

/**
 * Runs a check of one kind. A thrown error means that the check could not run; the signal aborts at the
 * timeout.
 */
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

/** Shortens text for tables, and limits what a foreign program can make us store. */
function shorten(text: string): string {
  return toPrintable(text.trim().replaceAll(/\s*\n\s*/g, '; ')).slice(0, 300)
}
