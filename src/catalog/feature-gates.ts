import type { Finding } from '../contract/finding.ts'
import { lockedFeatureGates } from './flags/locked-feature-gates.ts'
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

/** Values of feature gates by name, as text. */
export type FeatureGates = Readonly<Record<string, string>>

/** Reports feature gates with which a program of this Kubernetes version would refuse to start. */
export function checkFeatureGates(program: ProgramName, gates: FeatureGates, version: string): Finding[] {
  if (!gatedPrograms.has(program)) return []
  return Object.entries(gates).flatMap(([gate, value]) => {
    const found = explainRemoved(gate, version) ?? explainLocked(gate, value, version)
    if (found === undefined) return []
    const message = `${found.message}, and ${program} ${version} does not start with it`
    return [{ ...found, severity: 'error', component: program, message }]
  })
}

type Explanation = Required<Pick<Finding, 'code' | 'message' | 'hint'>>

function explainRemoved(gate: string, version: string): Explanation | undefined {
  const [removedIn] = Object.entries(removedFeatureGates).find(([, removed]) => removed.includes(gate)) ?? []
  if (removedIn === undefined || compareVersions(version, removedIn) < 0) return undefined
  return {
    code: 'FEATURE_GATE_REMOVED',
    message: `Kubernetes ${removedIn} removed the feature gate ${gate}`,
    hint: 'remove it: the feature is always on, or no longer exists',
  }
}

/** Explains a gate that has another value than the one to which a minor locked it. */
function explainLocked(gate: string, value: string, version: string): Explanation | undefined {
  const [lockedIn, locked] =
    Object.entries(lockedFeatureGates).find(([, { on, off }]) => [...on, ...(off ?? [])].includes(gate)) ?? []
  if (lockedIn === undefined || compareVersions(version, lockedIn) < 0) return undefined
  const isOn = locked?.on.includes(gate) === true
  const isOther = (isOn ? /^(?:0|f|F|false|FALSE|False)$/ : /^(?:1|t|T|true|TRUE|True)$/).test(value)
  if (!isOther) return undefined
  return {
    code: 'FEATURE_GATE_LOCKED',
    message: `Kubernetes ${lockedIn} locked the feature gate ${gate} to ${isOn}; cluster.yml sets it to ${value}`,
    hint: `remove it, after you have checked that the cluster works with ${gate}=${isOn}`,
  }
}

/** Reads the gates in the value of the flag feature-gates, such as `A=true,B=false`. */
export function parseFeatureGates(value: string): FeatureGates {
  return Object.fromEntries(
    value.split(',').flatMap((part) => {
      const [name = '', state = ''] = part.split('=').map((text) => text.trim())
      return name === '' ? [] : [[name, state] as const]
    }),
  )
}
