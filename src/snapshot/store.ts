import { z } from 'zod'
import { formatFileTimestamp, parseFileTimestamp } from '../kit/time-format.ts'

/** A location where snapshots are kept, for example a directory or a bucket. */
export interface SnapshotStore {
  /** Name in messages: the path of a directory, or s3://BUCKET/PREFIX. */
  readonly title: string
  /**
   * Stores a file as `name`, which the store must not contain yet. The name becomes visible only when the
   * file is complete.
   */
  put(name: string, file: string, progress: ReportBytes, signal: AbortSignal): Promise<void>
  /** Lists all snapshots, sorted by name. */
  list(signal: AbortSignal): Promise<readonly StoredSnapshot[]>
  /** Yields the whole file. The caller verifies it. */
  read(name: string, signal: AbortSignal): AsyncIterable<Uint8Array>
  remove(name: string, signal: AbortSignal): Promise<void>
}

export interface StoredSnapshot {
  readonly name: string
  /** Size in bytes. */
  readonly size: number
  /** Time at which the snapshot was stored, according to the store. */
  readonly modified: Date
}

/** Called with the number of transferred bytes and the total. */
export type ReportBytes = (done: number, total: number) => void

const extension = '.snapshot'

/** Valid snapshot names. They contain no character with a special meaning in a shell, a path or a URL. */
export const snapshotName = z.string().regex(/^[a-z0-9][\w.-]{0,99}\.snapshot$/i)

/**
 * Builds a name such as shop-2026-11-15T12-00-00Z.snapshot. With `beforeVersion`, the name is for example
 * shop-before-1.37.1-2026-11-15T12-00-00Z.snapshot.
 */
export function buildSnapshotName(cluster: string, taken: Date, beforeVersion?: string): string {
  const step = beforeVersion === undefined ? '' : `before-${beforeVersion}-`
  return `${cluster}-${step}${formatFileTimestamp(taken)}${extension}`
}

/** Adds the extension if it is missing. */
export function addSnapshotExtension(given: string): string {
  return given.endsWith(extension) ? given : given + extension
}

/** Reads the time from a name that buildSnapshotName has built. Returns undefined for other names. */
export function parseSnapshotTime(cluster: string, name: string): Date | undefined {
  const prefix = `${cluster}-`
  if (!name.startsWith(prefix) || !name.endsWith(extension)) return undefined
  return parseFileTimestamp(
    name.slice(prefix.length, -extension.length).replace(/^before-\d+\.\d+\.\d+-/, ''),
  )
}

/**
 * Selects the oldest snapshots to remove, so that `keep` remain. Only snapshots of this cluster with
 * generated names are counted and removed. Snapshots named by a person are kept.
 */
export function selectExpiredSnapshots(
  stored: readonly StoredSnapshot[],
  cluster: string,
  keep: number,
): readonly StoredSnapshot[] {
  const ownSnapshots = stored.flatMap((one) => {
    const taken = parseSnapshotTime(cluster, one.name)
    return taken === undefined ? [] : [{ one, time: taken.getTime() }]
  })
  return ownSnapshots
    .toSorted((a, b) => a.time - b.time)
    .slice(0, Math.max(0, ownSnapshots.length - keep))
    .map(({ one }) => one)
}
