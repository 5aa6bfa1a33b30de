import { HyperkubeError } from '../kit/errors.ts'
import { joinNames } from '../kit/text.ts'

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

export function toMinor(version: string): string {
  const [major, minor] = parseVersion(version)
  return `${major}.${minor}`
}

/** Maximum number of versions to suggest for an unknown version. */
const maxSuggestions = 3

/**
 * Sorts known versions by distance from a version: first by minor, then by patch. Of two equally distant
 * versions the newer one comes first.
 */
export function nearestVersions(version: string, known: readonly string[]): readonly string[] {
  const [, minor, patch] = parseVersion(version)
  const distances = (candidate: string): readonly [number, number] => {
    const [, itsMinor, itsPatch] = parseVersion(candidate)
    return [Math.abs(itsMinor - minor), Math.abs(itsPatch - patch)]
  }
  return known
    .toSorted((a, b) => {
      const [left, right] = [distances(a), distances(b)]
      return left[0] - right[0] || left[1] - right[1] || compareVersions(b, a)
    })
    .slice(0, maxSuggestions)
}

/** Builds the error for a version whose minor is not among the known versions. */
export function buildUnknownVersionError(version: string, known: readonly string[]): HyperkubeError {
  const minors = [...new Set(known.map(toMinor))].toSorted(compareVersions)
  return new HyperkubeError(
    'CATALOG_UNKNOWN_VERSION',
    `Kubernetes ${version} is not in the catalog, which has ${joinNames(minors)}`,
    {
      hint: `set spec.kubernetes to a version of these minors, for example ${nearestVersions(version, known).join(' or ')}`,
    },
  )
}

/**
 * Returns the versions to upgrade through, in order, without skipping a minor. Each minor in between has its
 * newest known version. The result is empty if both versions are equal.
 */
export function upgradePath(from: string, to: string, known: readonly string[]): readonly string[] {
  if (from === to) return []
  if (!known.some((version) => toMinor(version) === toMinor(to))) throw buildUnknownVersionError(to, known)
  if (compareVersions(to, from) < 0) {
    throw new HyperkubeError(
      'UPGRADE_DOWNGRADE',
      `the cluster runs ${from}; a downgrade to ${to} is not supported`,
      {
        hint: 'to return to the state before the upgrade: hyperkube etcd snapshot restore NAME',
      },
    )
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
    `the upgrade to ${to} needs Kubernetes 1.${minor}, which this release of hyperkube does not support`,
    {
      hint: `first upgrade to 1.${minor} with a release of hyperkube that supports it`,
    },
  )
}
