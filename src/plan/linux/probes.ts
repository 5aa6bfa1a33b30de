import { basename } from 'node:path'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { Probe } from '../../contract/probe.ts'
import type { ComponentPlanner } from '../component.ts'
import type { LinuxPlanContext } from '../context.ts'

/** A check with its name; other fields override the defaults. */
export type ProbeOptions = Pick<Probe, 'name' | 'check'> & Partial<Probe>

/**
 * Probes the component itself; a failure may restart it. A stopped component is found within 30 s; a short
 * delay is tolerated.
 */
export function planLocalProbe(options: ProbeOptions): Probe {
  return { scope: 'local', intervalMs: 10_000, timeoutMs: 5000, failureThreshold: 3, ...options }
}

/** Probes the environment of a component. A failure is only reported. */
export function planRemoteProbe(options: ProbeOptions): Probe {
  return { scope: 'remote', intervalMs: 10_000, timeoutMs: 10_000, failureThreshold: 3, ...options }
}

/** Below this share of free space programs fail in untested ways. */
export function diskSpaceProbe(directory: string): Probe {
  return planRemoteProbe({
    name: 'disk-space',
    check: { kind: 'disk-space', directory, minFree: 0.05 },
    intervalMs: 60_000,
    failureThreshold: 1,
  })
}

/** Adds a probe for each certificate of the component. */
export function withCertificateProbes(
  planner: ComponentPlanner<LinuxPlanContext>,
): ComponentPlanner<LinuxPlanContext> {
  return (context) => {
    const planned = planner(context)
    if (planned === undefined) return undefined
    return { ...planned, probes: [...planned.probes, ...planned.certificates.map(certificateProbe)] }
  }
}

/** Certificates are renewed with a third of their lifetime left, so a fifth means that renewal has failed. */
function certificateProbe({ certificateFile: file }: PlannedCertificate): Probe {
  return planRemoteProbe({
    name: `certificate-${basename(file, '.crt')}`,
    check: { kind: 'certificate', file, minRemaining: 0.2 },
    intervalMs: 600_000,
    failureThreshold: 1,
  })
}
