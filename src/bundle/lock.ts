import { checkLock } from '../catalog/check-lock.ts'
import { inOrder, type Lock } from '../catalog/lock.ts'
import type { Release } from '../catalog/kubernetes-release.ts'
import type { Target } from '../catalog/artifact-target.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { BundleManifest } from './manifest.ts'

/** The lock for machines of these kinds, of what a bundle has: it was made from one, and has its digests. */
export function lockIn(
  { lock }: BundleManifest,
  release: Release,
  targets: readonly Target[],
  images: Release['images'],
): Lock {
  const lacking = checkLock(lock, release, targets, images)
  if (lacking.length > 0) {
    throw new HyperkubeError(
      'BUNDLE_LACKS',
      lacking.map(({ message }) => message.replace('the lock', 'the bundle')).join('\n'),
      {
        hint: 'make it anew where there is a way out: hyperkube lock, then hyperkube bundle create',
      },
    )
  }
  const isWanted = ({ os, arch }: Lock['artifacts'][number]): boolean =>
    targets.some((target) => target.os === os && target.arch === arch)
  return inOrder({
    ...lock,
    artifacts: lock.artifacts.filter(isWanted),
    images: Object.fromEntries(Object.entries(lock.images).filter(([name]) => name in images)),
  })
}
