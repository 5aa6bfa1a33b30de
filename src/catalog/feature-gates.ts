import type { Finding } from '../contract/finding.ts'
import { removedFeatureGates } from './flags/removed-feature-gates.ts'
import type { ProgramName } from './program-flags.ts'
import { compareVersions } from './version.ts'

/**
 * Programs that have the feature gates of Kubernetes. etcd is not listed, because its feature gates are its
 * own.
 */
const gatedPrograms: ReadonlySet<ProgramName> = new Set([
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'kube-proxy',
])

/** Reports feature gates with which a program of this Kubernetes version would refuse to start. */
export function checkFeatureGates(
  program: ProgramName,
  gates: readonly string[],
  version: string,
): Finding[] {
  if (!gatedPrograms.has(program)) return []
  return gates.flatMap((gate) => {
    const [removedIn] =
      Object.entries(removedFeatureGates).find(([, removed]) => removed.includes(gate)) ?? []
    if (removedIn === undefined || compareVersions(version, removedIn) < 0) return []
    return [
      {
        code: 'FEATURE_GATE_REMOVED',
        severity: 'error',
        component: program,
        message: `Kubernetes ${removedIn} removed the feature gate ${gate}, and ${program} ${version} does not start with it`,
        hint: 'remove it: the feature is always on, or no longer exists',
      },
    ]
  })
}

/** Reads the names in the value of the flag feature-gates, such as `A=true,B=false`. */
export function parseFeatureGates(value: string): string[] {
  return value.split(',').flatMap((part) => {
    const [name = ''] = part.split('=')
    return name.trim() === '' ? [] : [name.trim()]
  })
}
