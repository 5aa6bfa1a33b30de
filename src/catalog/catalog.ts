import { type KubernetesMinor, shippedMinors } from './minor.ts'
import { buildUnknownVersionError, toMinor } from './version.ts'

/** Versions of all components that belong to a Kubernetes version, without a leading v. */
export type KubernetesRelease = KubernetesMinor['components'] &
  Pick<KubernetesMinor, 'images' | 'flags' | 'apiVersions'> & { readonly kubernetes: string }

/** Lists one Kubernetes release of each minor, the one that the lab builds, newest first. */
export function listTestedReleases(): readonly KubernetesRelease[] {
  return shippedMinors.map((minor) => buildRelease(minor, minor.tested))
}

/** Lists one Kubernetes version of each minor, the one that the lab builds, newest first. */
export function listTestedVersions(): readonly string[] {
  return shippedMinors.map(({ tested }) => tested)
}

function buildRelease(
  { components, images, flags, apiVersions }: KubernetesMinor,
  kubernetes: string,
): KubernetesRelease {
  return { kubernetes, ...components, images, flags, apiVersions }
}

/**
 * Returns the component versions of a Kubernetes version. Every patch version of a known minor is accepted, so
 * that a security patch needs no new release of hyperkube. Throws if the minor is unknown.
 */
export function findKubernetesRelease(version: string): KubernetesRelease {
  const found = shippedMinors.find(({ minor }) => minor === toMinor(version))
  if (found !== undefined) return buildRelease(found, version)
  throw buildUnknownVersionError(version, listTestedVersions())
}
