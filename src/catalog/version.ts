import { HyperkubeError } from '../kit/errors.ts'

/** Numbers of a version such as 1.37.1. The patch number of a minor such as 1.37 is 0. */
type VersionNumbers = readonly [major: number, minor: number, patch: number]

export function parseVersion(version: string): VersionNumbers {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map(Number)
  return [major, minor, patch]
}

/** Negative if `a` is older than `b`, positive if it is newer. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [parseVersion(a), parseVersion(b)]
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2]
}

/**
 * Returns the versions to upgrade through, in order, without skipping a minor. Empty if both versions are
 * equal.
 */
export function upgradePath(from: string, to: string, known: readonly string[]): readonly string[] {
  if (from === to) return []
  if (!known.includes(to)) {
    throw new HyperkubeError('CATALOG_UNKNOWN_VERSION', `this hyperkube does not know Kubernetes ${to}`, {
      hint: `it knows ${known.toSorted(compareVersions).toReversed().join(', ')}`,
    })
  }
  if (compareVersions(to, from) < 0) {
    throw new HyperkubeError('UPGRADE_DOWNGRADE', `the cluster is at ${from}, and ${to} is older`, {
      hint: 'the way back is a snapshot of before: hyperkube etcd snapshot restore',
    })
  }
  const [, first] = parseVersion(from)
  const [, last] = parseVersion(to)
  const between = Array.from({ length: Math.max(0, last - first - 1) }, (_, index) => first + 1 + index)
  return [...between.map((minor) => findNewestPatch(minor, known, to)), to]
}

function findNewestPatch(minor: number, known: readonly string[], to: string): string {
  const newest = known
    .filter((version) => parseVersion(version)[1] === minor)
    .toSorted(compareVersions)
    .at(-1)
  if (newest !== undefined) return newest
  throw new HyperkubeError(
    'UPGRADE_NO_PATH',
    `on the way to ${to} this hyperkube knows no version of 1.${minor}`,
    {
      hint: `go through 1.${minor} with a hyperkube that knows it`,
    },
  )
}
