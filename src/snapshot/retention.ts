import { takenAt } from './name.ts'
import type { StoredSnapshot } from './store.ts'

/**
 * Those that go when so many shall stay, the oldest first. Only snapshots of this cluster that bear the names which they
 * are given by themselves are counted, and go: what a person has named is there for a reason.
 */
export function superfluous(
  stored: readonly StoredSnapshot[],
  cluster: string,
  keep: number,
): readonly StoredSnapshot[] {
  const own = stored.flatMap((one) => {
    const taken = takenAt(cluster, one.name)
    return taken === undefined ? [] : [{ one, time: taken.getTime() }]
  })
  return own
    .toSorted((a, b) => a.time - b.time)
    .slice(0, Math.max(0, own.length - keep))
    .map(({ one }) => one)
}
