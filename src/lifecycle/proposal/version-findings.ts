import { compareVersions, parseVersion } from '../../catalog/version.ts'
import type { Finding } from '../../contract/finding.ts'

/** Kubernetes versions that run now, without a leading v. */
export interface RunningVersions {
  /** Versions of API servers. */
  readonly servers: readonly string[]
  /** Kubelet versions by node name. */
  readonly kubelets: ReadonlyMap<string, string>
}

/** Maximum number of minor versions that a kubelet may be older than its API servers. */
const maxKubeletSkew = 3

/** Checks a change of the Kubernetes version, including the resumption of an interrupted upgrade. */
export function checkVersionChange(desiredVersion: string, running: RunningVersions): Finding[] {
  return [
    ...findDowngrade(desiredVersion, running),
    ...findSkippedMinors(desiredVersion, running),
    ...findKubeletSkew(desiredVersion, running),
  ]
}

/** True if any server or kubelet has another minor version than the desired one. */
export function isMinorChange(desiredVersion: string, { servers, kubelets }: RunningVersions): boolean {
  return [...servers, ...kubelets.values()].some(
    (version) => readMinor(version) !== readMinor(desiredVersion),
  )
}

function findDowngrade(desiredVersion: string, { servers, kubelets }: RunningVersions): Finding[] {
  const newest = [...servers, ...kubelets.values()].toSorted(compareVersions).at(-1)
  if (newest === undefined || readMinor(desiredVersion) >= readMinor(newest)) return []
  return [
    {
      code: 'UPGRADE_DOWNGRADE',
      severity: 'error',
      message: `${newest} runs already, and ${desiredVersion} would be a minor version back: what the newer one has stored, the older one may not be able to read`,
      hint: `set spec.kubernetes to ${newest}, then: hyperkube up; the way back is a snapshot of before: hyperkube etcd snapshot restore`,
    },
  ]
}

function findSkippedMinors(desiredVersion: string, { servers }: RunningVersions): Finding[] {
  const [oldest] = servers.toSorted(compareVersions)
  if (oldest === undefined || readMinor(desiredVersion) <= readMinor(oldest) + 1) return []
  return [
    {
      code: 'UPGRADE_SKIPS_MINOR',
      severity: 'error',
      message: `from ${oldest} to ${desiredVersion} minor versions would be skipped, which API servers do not survive`,
      hint: `hyperkube upgrade --to ${desiredVersion} goes through those in between`,
    },
  ]
}

/**
 * Finds kubelets that are too old for the desired version. Unreachable nodes count too, because they come
 * back with their current kubelet.
 */
function findKubeletSkew(desiredVersion: string, { kubelets }: RunningVersions): Finding[] {
  return [...kubelets]
    .filter(([, version]) => readMinor(desiredVersion) - readMinor(version) > maxKubeletSkew)
    .map(([node, version]) => ({
      code: 'UPGRADE_SKEW',
      severity: 'error',
      message: `its kubelet is ${version}, and API servers of ${desiredVersion} work with none that old`,
      hint: `bring it up to date first, or take it out: hyperkube node remove ${node}`,
      host: node,
    }))
}

function readMinor(version: string): number {
  return parseVersion(version)[1]
}
