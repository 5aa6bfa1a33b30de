import { stripDigest } from '../contract/image-reference.ts'
import { formatCount } from '../kit/text.ts'
import { artifactId, listLockedArtifacts, type Lock } from './lock.ts'
import { findImageDigest, type ReleaseDigests } from './release-digests.ts'

/**
 * How the digests in a lock were verified. Each list has ids such as `kubelet linux/amd64` or `image pause`.
 */
export interface LockTrust {
  /** The digest is part of this hyperkube release. */
  readonly release: readonly string[]
  /** The digest is from a checksum file at the source of the file. */
  readonly published: readonly string[]
  /** The digest comes from the first download of a file, or from the first read of an image. */
  readonly firstDownload: readonly string[]
}

/**
 * Lists how the pins of a lock were verified. Pins of workers at an older version are left out, because they
 * were listed when that version was locked.
 */
export function listLockTrust(lock: Lock, digests: ReleaseDigests): LockTrust {
  const { images } = lock
  const idsWith = (trust: Lock['artifacts'][number]['trust']): string[] =>
    listLockedArtifacts(lock)
      .filter((one) => one.trust === trust)
      .map(artifactId)
  const isShipped = (reference: string): boolean => {
    const name = stripDigest(reference)
    const digest = findImageDigest(digests, name)
    return digest !== undefined && reference === `${name}@${digest}`
  }
  const imageIds = (isWanted: (reference: string) => boolean): string[] =>
    Object.entries(images).flatMap(([name, reference]) => (isWanted(reference) ? [`image ${name}`] : []))
  return {
    release: [...idsWith('release'), ...imageIds(isShipped)],
    published: idsWith('published'),
    firstDownload: [...idsWith('first-download'), ...imageIds((reference) => !isShipped(reference))],
  }
}

/** Describes how the digests were verified, one line for each way. Unverified entries are named. */
export function describeLockTrust({ release, published, firstDownload }: LockTrust): readonly string[] {
  const total = release.length + published.length + firstDownload.length
  return [
    `verified against this hyperkube release: ${release.length} of ${formatCount(total, 'digest')}`,
    ...(published.length === 0
      ? []
      : [`verified only against the checksum file of the publisher: ${published.join(', ')}`]),
    ...(firstDownload.length === 0 ? [] : [`trusted at first download: ${firstDownload.join(', ')}`]),
  ]
}
