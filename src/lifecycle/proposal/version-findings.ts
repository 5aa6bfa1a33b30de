import { compareVersions, parseVersion } from '../../catalog/version.ts'
import type { Finding } from '../../contract/finding.ts'
import { maxKubeletSkew } from '../../kit/version-skew.ts'

/** Kubernetes versions that run now, without a leading v. */
export interface RunningVersions {
  /** Versions of API servers. For a server that emulates a minor version, that minor. */
  readonly servers: readonly string[]
  /** Kubelet versions by node name. */
  readonly kubelets: ReadonlyMap<string, string>
}

/** Desired version of workers, and the names of their nodes. */
export interface DesiredWorkers {
  readonly version: string
  readonly nodes: readonly string[]
}

/** Checks a change of the Kubernetes version, including the resumption of an interrupted upgrade. */
export function checkVersionChange(
  desiredVersion: string,
  running: RunningVersions,
  workers: DesiredWorkers,
): Finding[] {
  return [
    ...findDowngrade(desiredVersion, running),
    ...findWorkerDowngrades(workers, running),
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
      message: `cannot downgrade from ${newest} to ${desiredVersion}: an older minor version may not read data that a newer one has stored`,
      hint: `set spec.kubernetes to ${newest}, then: hyperkube up; to return to the state before the upgrade: hyperkube etcd snapshot restore NAME`,
    },
  ]
}

function findWorkerDowngrades({ version, nodes }: DesiredWorkers, { kubelets }: RunningVersions): Finding[] {
  return nodes.flatMap((node) => {
    const kubelet = kubelets.get(node)
    if (kubelet === undefined || readMinor(version) >= readMinor(kubelet)) return []
    return [
      {
        code: 'UPGRADE_DOWNGRADE',
        severity: 'error',
        message: `cannot downgrade the kubelet from ${kubelet} to ${version}`,
        hint: `set spec.workers.kubernetes to ${kubelet}, or remove it; then: hyperkube up`,
        host: node,
      },
    ]
  })
}

function findSkippedMinors(desiredVersion: string, { servers }: RunningVersions): Finding[] {
  const [oldest] = servers.toSorted(compareVersions)
  if (oldest === undefined || readMinor(desiredVersion) <= readMinor(oldest) + 1) return []
  return [
    {
      code: 'UPGRADE_SKIPS_MINOR',
      severity: 'error',
      message: `an upgrade from ${oldest} to ${desiredVersion} would skip minor versions, which Kubernetes does not support`,
      hint: `upgrade through the minor versions in between: hyperkube upgrade --to ${desiredVersion}`,
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
      message: `kubelet ${version} is too old for API servers of ${desiredVersion}`,
      hint: `upgrade ${node} first, or remove it: hyperkube node remove ${node}`,
      host: node,
    }))
}

function readMinor(version: string): number {
  return parseVersion(version)[1]
}
