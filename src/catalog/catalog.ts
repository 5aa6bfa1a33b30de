import { HyperkubeError } from '../kit/errors.ts'
import type { Release } from './kubernetes-release.ts'
import { v1_36 } from './v1-36.ts'
import { v1_37 } from './v1-37.ts'
import { compareVersions, numbersOf } from './version.ts'

/** Every release that hyperkube knows, the newest first. A new minor is a new file and a word here. */
export const releases: readonly Release[] = [...v1_37, ...v1_36]

/** How many known versions are worth naming to a person who asked for another one. */
const worthNaming = 3

/** What belongs to a version of Kubernetes. */
export function catalogFor(version: string): Release {
  const found = releases.find(({ kubernetes }) => kubernetes === version)
  if (found !== undefined) return found
  const near = nearestVersions(
    version,
    releases.map(({ kubernetes }) => kubernetes),
  )
  throw new HyperkubeError('CATALOG_UNKNOWN_VERSION', `this hyperkube does not know Kubernetes ${version}`, {
    hint: `set spec.kubernetes to ${near.join(' or ')}`,
  })
}

/** A near minor counts before a near patch; of two that are as near, the newer one comes first. */
export function nearestVersions(version: string, known: readonly string[]): readonly string[] {
  const [, minor, patch] = numbersOf(version)
  const distances = (candidate: string): readonly [number, number] => {
    const [, itsMinor, itsPatch] = numbersOf(candidate)
    return [Math.abs(itsMinor - minor), Math.abs(itsPatch - patch)]
  }
  return known
    .toSorted((a, b) => {
      const [left, right] = [distances(a), distances(b)]
      return left[0] - right[0] || left[1] - right[1] || compareVersions(b, a)
    })
    .slice(0, worthNaming)
}
