import type { Finding } from '../contract/finding.ts'
import { withoutDigest } from '../contract/image-reference.ts'
import { upstreamArtifacts } from './artifacts.ts'
import { artifactId, type Lock } from './lock.ts'
import type { Release } from './kubernetes-release.ts'
import type { Target } from './artifact-target.ts'

const hint = 'hyperkube lock'

/** What in a lock does not fit a release on machines of these kinds. What it has besides does no harm. */
export function checkLock(
  lock: Lock,
  release: Release,
  targets: readonly Target[],
  images: Release['images'] = release.images,
): readonly Finding[] {
  if (lock.kubernetes !== release.kubernetes) {
    // Every other difference follows from this one.
    const message = `the lock is for Kubernetes ${lock.kubernetes}, not ${release.kubernetes}`
    return [finding('LOCK_OTHER_KUBERNETES', message)]
  }
  return [...artifactFindings(lock, release, targets), ...imageFindings(lock, images)]
}

function artifactFindings(lock: Lock, release: Release, targets: readonly Target[]): Finding[] {
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

/** Locks that were made before images were pinned have their names alone. */
function imageFindings(lock: Lock, images: Release['images']): Finding[] {
  return Object.entries(images)
    .filter(([name, image]) => withoutDigest(lock.images[name] ?? '') !== image)
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
