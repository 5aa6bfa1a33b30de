import { HyperkubeError } from '../kit/errors.ts'
import type { KubernetesRelease } from './kubernetes-release.ts'
import { v1_36 } from './v1-36.ts'
import { v1_37 } from './v1-37.ts'
import { compareVersions, parseVersion } from './version.ts'

/** All Kubernetes releases that hyperkube supports, newest first. Each minor has its own file. */
export const kubernetesReleases: readonly KubernetesRelease[] = [...v1_37, ...v1_36]

/** Maximum number of versions to suggest for an unknown version. */
const maxSuggestions = 3

/** Returns the component versions of a Kubernetes version. Throws if the version is unknown. */
export function findKubernetesRelease(version: string): KubernetesRelease {
  const found = kubernetesReleases.find(({ kubernetes }) => kubernetes === version)
  if (found !== undefined) return found
  const suggestions = nearestVersions(
    version,
    kubernetesReleases.map(({ kubernetes }) => kubernetes),
  )
  throw new HyperkubeError('CATALOG_UNKNOWN_VERSION', `this hyperkube does not know Kubernetes ${version}`, {
    hint: `set spec.kubernetes to ${suggestions.join(' or ')}`,
  })
}

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
