import { basename } from 'node:path'
import type { PlannedCertificate } from '../../contract/component-plan.ts'
import type { Probe } from '../../contract/probe.ts'
import type { Planner } from '../component.ts'
import type { LinuxScene } from '../context.ts'

/** Whatever is asked about, and how often, where that is not the usual. */
export type ProbeWish = Pick<Probe, 'name' | 'check'> & Partial<Probe>

/**
 * Whether a component itself is well. One that is stopped is found within half a minute; one that is only slow for a
 * moment is left alone.
 */
export function local(wish: ProbeWish): Probe {
  return { scope: 'local', every: 10_000, timeout: 5000, failures: 3, ...wish }
}

/** What is said of the world around it, and leads to nothing else. */
export function remote(wish: ProbeWish): Probe {
  return { scope: 'remote', every: 10_000, timeout: 10_000, failures: 3, ...wish }
}

/** Below this much free, programs fail in ways that nobody has tried. */
export function diskSpace(directory: string): Probe {
  return remote({
    name: 'disk-space',
    check: { kind: 'disk-space', directory, free: 0.05 },
    every: 60_000,
    failures: 1,
  })
}

/** The same component, which is asked about how long its certificates last, too. */
export function withCertificates(planner: Planner<LinuxScene>): Planner<LinuxScene> {
  return (scene) => {
    const planned = planner(scene)
    if (planned === undefined) return undefined
    return { ...planned, probes: [...planned.probes, ...planned.certificates.map(certificate)] }
  }
}

/** With a third of its life left it is renewed, so with a fifth left somebody has tried in vain. */
function certificate({ certificateFile: file }: PlannedCertificate): Probe {
  return remote({
    name: `certificate-${basename(file, '.crt')}`,
    check: { kind: 'certificate', file, left: 0.2 },
    every: 600_000,
    failures: 1,
  })
}
