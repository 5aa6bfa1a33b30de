import type { Finding } from '../contract/finding.ts'
import { compareVersions, parseVersion, toMinor } from './version.ts'

/** One version of Kubernetes on a path, and the etcd version that comes with it. */
export interface EtcdStep {
  readonly kubernetes: string
  readonly etcd: string
}

/**
 * First patch of etcd 3.5 from which an upgrade to 3.6 is safe. It corrects membership data that etcd 3.6
 * would read as removed members or as learners. Source: https://etcd.io/docs/v3.6/upgrades/upgrade_3_6/
 */
const firstSafe35 = '3.5.26'

/** Checks etcd's own upgrade rules along a path of Kubernetes versions: no skipped minor, no downgrade. */
export function checkEtcdPath(current: string, steps: readonly EtcdStep[]): Finding[] {
  const versions = [current, ...steps.map(({ etcd }) => etcd)]
  return steps.flatMap(({ kubernetes, etcd }, index) => {
    const reason = explainRefusal(versions[index] ?? current, etcd)
    if (reason === undefined) return []
    const message = `Kubernetes ${kubernetes} comes with etcd ${etcd}: ${reason}`
    return [{ code: 'UPGRADE_ETCD', severity: 'error', message, component: 'etcd', hint }]
  })
}

const hint =
  'first bring etcd to the version of the catalog: hyperkube lock, then hyperkube up; hyperkube status shows the versions'

function explainRefusal(before: string, after: string): string | undefined {
  const [from, to] = [parseVersion(before), parseVersion(after)]
  if (from[0] !== to[0] || to[1] > from[1] + 1)
    return `an upgrade from ${before} would skip minor versions of etcd`
  if (to[1] < from[1]) return `a downgrade from ${before} is not supported`
  const entersFrom35 = from[1] === 5 && to[1] === 6
  return entersFrom35 && compareVersions(before, firstSafe35) < 0
    ? `etcd ${before} must first be updated to ${firstSafe35} or later`
    : undefined
}

/**
 * Returns whether members must save a raft snapshot before this upgrade. etcd 3.7 cannot read entries of the
 * raft log that etcd 3.5 wrote. They may still be in the log if the upgrade to 3.6 was not long ago.
 */
export function needsRaftSnapshot(before: string, after: string): boolean {
  return toMinor(before) === '3.6' && toMinor(after) === '3.7'
}
