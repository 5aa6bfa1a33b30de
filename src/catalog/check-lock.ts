import type { Finding } from '../contract/finding.ts'
import { stripDigest } from '../contract/image-reference.ts'
import {
  type ArtifactTarget,
  controlPlaneArtifacts,
  helmArtifacts,
  type UpstreamArtifact,
  upstreamArtifacts,
} from './artifacts.ts'
import type { CatalogSource, KubernetesRelease } from './catalog.ts'
import { artifactId, type Lock, type LockedArtifact, type LockPins } from './lock.ts'

const hint = 'hyperkube lock'

export interface CheckLockOptions {
  readonly release: KubernetesRelease
  /** Release of a held upgrade, whose control plane programs the lock must have too. */
  readonly held?: KubernetesRelease | undefined
  readonly targets: readonly ArtifactTarget[]
  /** Whether the lock must have Helm, because the cluster has charts. */
  readonly helm?: boolean
  /** Images that the cluster needs. Default: all images of the release. */
  readonly images?: KubernetesRelease['images']
}

/**
 * Reports files and images that these targets need and that the lock lacks or has in another version.
 * Additional entries in the lock are allowed, except the programs of a held upgrade that has ended.
 */
export function checkLock(
  lock: LockPins & Pick<Lock, 'heldUpgrade'>,
  { release, held, targets, helm = false, images = release.images }: CheckLockOptions,
): readonly Finding[] {
  if (lock.kubernetes !== release.kubernetes) {
    // With another Kubernetes version nearly everything differs, so only the version is reported.
    const message = `the lock is for Kubernetes ${lock.kubernetes}, not ${release.kubernetes}`
    return [finding('LOCK_OTHER_KUBERNETES', message)]
  }
  const olderCatalog = findOlderCatalog(lock, release.catalog)
  if (olderCatalog !== undefined) return [olderCatalog]
  const wanted = targets.flatMap((target) => [
    ...upstreamArtifacts(release, target),
    ...(helm ? helmArtifacts(target) : []),
  ])
  return [
    ...artifactFindings(lock.artifacts, wanted),
    ...heldFindings(lock, held, targets),
    ...imageFindings(lock, images),
  ]
}

/**
 * Reports that the catalog is older than the one of the lock. Otherwise `hyperkube lock` would downgrade
 * components after a signed catalog was lost or replaced by an old one.
 */
export function findOlderCatalog(
  { catalog }: Pick<Lock, 'catalog'>,
  source: CatalogSource,
): Finding | undefined {
  if (catalog === undefined || catalog.serial <= source.serial) return undefined
  const found =
    source.from === 'file'
      ? `cluster.catalog has the serial ${source.serial}`
      : `cluster.catalog does not exist, and the catalog of this release has the serial ${source.serial}`
  return {
    code: 'LOCK_OLDER_CATALOG',
    severity: 'error',
    message: `the lock is from the catalog with the serial ${catalog.serial}; ${found}`,
    hint: 'restore cluster.catalog from version control; to use the older versions: hyperkube lock --accept-older-catalog',
  }
}

function artifactFindings(
  artifacts: readonly LockedArtifact[],
  allWanted: readonly UpstreamArtifact[],
): Finding[] {
  const locked = new Map(artifacts.map((artifact) => [artifactId(artifact), artifact]))
  return allWanted.flatMap((wanted) => {
    const id = artifactId(wanted)
    const found = locked.get(id)
    if (found === undefined) return [finding('LOCK_MISSING_ARTIFACT', `the lock has no ${id}`)]
    if (found.version === wanted.version && found.url === wanted.url) return []
    const message = `the lock has ${id} ${found.version} from ${found.url}, not ${wanted.version} from ${wanted.url}`
    return [finding('LOCK_OTHER_ARTIFACT', message)]
  })
}

/**
 * Reports a lock that disagrees with cluster.yml about the held upgrade. A plan takes the programs of a held
 * upgrade from the lock.
 */
function heldFindings(
  { heldUpgrade }: Pick<Lock, 'heldUpgrade'>,
  held: KubernetesRelease | undefined,
  targets: readonly ArtifactTarget[],
): Finding[] {
  if (heldUpgrade?.kubernetes !== held?.kubernetes) {
    const message = `the lock has ${formatHold(heldUpgrade?.kubernetes)}, but cluster.yml has ${formatHold(held?.kubernetes)}`
    return [finding('LOCK_OTHER_KUBERNETES', message)]
  }
  if (heldUpgrade === undefined || held === undefined) return []
  const wanted = targets.flatMap((target) => controlPlaneArtifacts(held, target))
  return artifactFindings(heldUpgrade.artifacts, wanted)
}

function formatHold(version: string | undefined): string {
  return version === undefined ? 'no held upgrade' : `a held upgrade to ${version}`
}

/** Compares images without digests, because old locks contain image names without digests. */
function imageFindings(lock: LockPins, images: KubernetesRelease['images']): Finding[] {
  return Object.entries(images)
    .filter(([name, image]) => stripDigest(lock.images[name] ?? '') !== image)
    .map(([name, image]) =>
      finding(
        'LOCK_OTHER_IMAGE',
        `the lock has ${lock.images[name] ?? 'no image'} for ${name}, not ${image}`,
      ),
    )
}

function finding(code: string, message: string): Finding {
  return { code, severity: 'error', message, hint }
}
