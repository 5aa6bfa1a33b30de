import { parseSnapshotTime } from './name.ts'
import type { StoredSnapshot } from './store.ts'

/**
 * Selects the oldest snapshots to remove, so that `keep` remain. Only generated names of this cluster are
 * counted and removed; snapshots named by a person are kept.
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
