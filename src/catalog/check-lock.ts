import type { Finding } from '../contract/finding.ts'
import { stripDigest } from '../contract/image-reference.ts'
import { type ArtifactTarget, upstreamArtifacts } from './artifacts.ts'
import type { KubernetesRelease } from './catalog.ts'
import { artifactId, type LockPins } from './lock.ts'

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
  return [...artifactFindings(lock, release, targets), ...imageFindings(lock, images)]
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
