import type { Finding } from '../contract/finding.ts'
import { stripDigest } from '../contract/image-reference.ts'
import { type ArtifactTarget, upstreamArtifacts } from './artifacts.ts'
import type { CatalogSource, KubernetesRelease } from './catalog.ts'
import { artifactId, type Lock, type LockPins } from './lock.ts'

const hint = 'hyperkube lock'

/**
 * Reports files and images that these targets need and that the lock lacks or has in another version.
 * Additional entries in the lock are allowed.
 */
export function checkLock(
  lock: LockPins,
  release: KubernetesRelease,
  targets: readonly ArtifactTarget[],
  images: KubernetesRelease['images'] = release.images,
): readonly Finding[] {
  if (lock.kubernetes !== release.kubernetes) {
    // With another Kubernetes version nearly everything differs, so only the version is reported.
    const message = `the lock is for Kubernetes ${lock.kubernetes}, not ${release.kubernetes}`
    return [finding('LOCK_OTHER_KUBERNETES', message)]
  }
  const olderCatalog = findOlderCatalog(lock, release.catalog)
  if (olderCatalog !== undefined) return [olderCatalog]
  return [...artifactFindings(lock, release, targets), ...imageFindings(lock, images)]
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
  lock: LockPins,
  release: KubernetesRelease,
  targets: readonly ArtifactTarget[],
): Finding[] {
  const locked = new Map(lock.artifacts.map((artifact) => [artifactId(artifact), artifact]))
  return targets
    .flatMap((target) => upstreamArtifacts(release, target))
    .flatMap((wanted) => {
      const id = artifactId(wanted)
      const found = locked.get(id)
      if (found === undefined) return [finding('LOCK_MISSING_ARTIFACT', `the lock has no ${id}`)]
      if (found.version === wanted.version && found.url === wanted.url) return []
      const message = `the lock has ${id} ${found.version} from ${found.url}, not ${wanted.version} from ${wanted.url}`
      return [finding('LOCK_OTHER_ARTIFACT', message)]
    })
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
