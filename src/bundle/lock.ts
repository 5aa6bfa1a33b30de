import type { ArtifactTarget } from '../catalog/artifacts.ts'
import type { KubernetesRelease } from '../catalog/catalog.ts'
import { checkLock } from '../catalog/check-lock.ts'
import { describeCatalog, type Lock, sortLock } from '../catalog/lock.ts'
import { HyperkubeError } from '../kit/errors.ts'
import type { BundleManifest } from './manifest.ts'

export interface ExtractLockOptions {
  readonly release: KubernetesRelease
  readonly targets: readonly ArtifactTarget[]
  readonly images: KubernetesRelease['images']
  /** Whether the cluster needs Helm, because it has charts. */
  readonly helm?: boolean
}

/**
 * Returns the lock in the bundle, reduced to these targets and images. Throws if the bundle lacks any of
 * them.
 */
export function extractLock(
  { lock: { charts: _charts, ...lock } }: BundleManifest,
  { release, targets, images, helm = false }: ExtractLockOptions,
): Lock {
  const missing = checkLock(lock, { release, targets, images, helm })
  if (missing.length > 0) {
    throw new HyperkubeError(
      'BUNDLE_INCOMPLETE',
      missing.map(({ message }) => message.replace('the lock', 'the bundle')).join('\n'),
      {
        hint: 'create the bundle again on a machine with internet access: hyperkube lock, then hyperkube bundle create',
      },
    )
  }
  const isWanted = ({ os, arch }: Lock['artifacts'][number]): boolean =>
    targets.some((target) => target.os === os && target.arch === arch)
  return sortLock({
    ...lock,
    // The result names the cluster's catalog, even if the bundle was made with another catalog.
    catalog: describeCatalog(release.catalog).catalog,
    artifacts: lock.artifacts.filter(isWanted),
    images: Object.fromEntries(Object.entries(lock.images).filter(([name]) => name in images)),
  })
}
