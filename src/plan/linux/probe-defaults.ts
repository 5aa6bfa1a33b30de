import { basename } from 'node:path'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { Probe } from '../../contract/probe.ts'
import type { ComponentPlanner, LinuxPlanContext } from '../context.ts'

/** Name and check of a probe. Other fields override the defaults. */
export type ProbeOptions = Pick<Probe, 'name' | 'check'> & Partial<Probe>

/**
 * Plans a probe of the component itself; a failure may restart the component. A stopped component is found in
 * 30 s, and short delays are tolerated.
 */
export function planLocalProbe(options: ProbeOptions): Probe {
  return { scope: 'local', intervalMs: 10_000, timeoutMs: 5000, failureThreshold: 3, ...options }
}

/** Plans a probe of something that the component depends on. A failure is only reported. */
export function planRemoteProbe(options: ProbeOptions): Probe {
  return { scope: 'remote', intervalMs: 10_000, timeoutMs: 10_000, failureThreshold: 3, ...options }
}

/**
 * Plans a probe that fails if less than 5 % of the disk is free. A full disk makes programs fail in
 * unpredictable ways.
 */
export function diskSpaceProbe(directory: string): Probe {
  return planRemoteProbe({
    name: 'disk-space',
    check: { kind: 'disk-space', directory, minFree: 0.05 },
    intervalMs: 60_000,
    failureThreshold: 1,
  })
}

/** Adds a probe for each certificate to the plan of a component. */
export function withCertificateProbes(
  planner: ComponentPlanner<LinuxPlanContext>,
): ComponentPlanner<LinuxPlanContext> {
  return (context) => {
    const planned = planner(context)
    if (planned === undefined) return undefined
    return { ...planned, probes: [...planned.probes, ...planned.certificates.map(certificateProbe)] }
  }
}

/**
 * Plans a probe that fails when less than a fifth of the lifetime is left. Certificates are renewed when a
 * third is left, so a failing probe means that the renewal failed.
 */
function certificateProbe({ certificateFile: file }: PlannedCertificate): Probe {
  return planRemoteProbe({
    name: `certificate-${basename(file, '.crt')}`,
    check: { kind: 'certificate', file, minRemaining: 0.2 },
    intervalMs: 600_000,
    failureThreshold: 1,
  })
}
