import type { Finding } from '../contract/finding.ts'
import { stripDigest } from '../contract/image-reference.ts'
import {
  type ArtifactTarget,
  controlPlaneArtifacts,
  type UpstreamArtifact,
  upstreamArtifacts,
} from './artifacts.ts'
import { findKubernetesRelease, type KubernetesRelease } from './catalog.ts'
import { artifactId, type Lock, type LockedArtifact } from './lock.ts'

const hint = 'hyperkube lock'

export interface CheckLockOptions {
  readonly release: KubernetesRelease
  /** Version of a held upgrade, whose control plane programs the lock must have too. */
  readonly held?: string | undefined
  readonly targets: readonly ArtifactTarget[]
  /** Images that the cluster needs. Default: all images of the release. */
  readonly images?: KubernetesRelease['images']
}

/**
 * Reports files and images that these targets need and that the lock lacks or has in another version.
 * Additional entries in the lock are allowed, except the programs of a held upgrade that has ended.
 */
export function checkLock(
  lock: Lock,
  { release, held, targets, images = release.images }: CheckLockOptions,
): readonly Finding[] {
  if (lock.kubernetes !== release.kubernetes) {
    // With another Kubernetes version nearly everything differs, so only the version is reported.
    const message = `the lock is for Kubernetes ${lock.kubernetes}, not ${release.kubernetes}`
    return [finding('LOCK_OTHER_KUBERNETES', message)]
  }
  const wanted = targets.flatMap((target) => upstreamArtifacts(release, target))
  return [
    ...artifactFindings(lock.artifacts, wanted),
    ...heldFindings(lock, held, targets),
    ...imageFindings(lock, images),
  ]
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

/** A plan takes the held programs from the lock, so the lock must agree with cluster.yml about the hold. */
function heldFindings(
  { heldUpgrade }: Lock,
  held: string | undefined,
  targets: readonly ArtifactTarget[],
): Finding[] {
  if (heldUpgrade?.kubernetes !== held) {
    const message = `the lock has ${formatHold(heldUpgrade?.kubernetes)}, but cluster.yml has ${formatHold(held)}`
    return [finding('LOCK_OTHER_KUBERNETES', message)]
  }
  if (heldUpgrade === undefined) return []
  const release = findKubernetesRelease(heldUpgrade.kubernetes)
  const wanted = targets.flatMap((target) => controlPlaneArtifacts(release, target))
  return artifactFindings(heldUpgrade.artifacts, wanted)
}

function formatHold(version: string | undefined): string {
  return version === undefined ? 'no held upgrade' : `a held upgrade to ${version}`
}

/** Compares images without digests, because old locks contain image names without digests. */
function imageFindings(lock: Lock, images: KubernetesRelease['images']): Finding[] {
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
