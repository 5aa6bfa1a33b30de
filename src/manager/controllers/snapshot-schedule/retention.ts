import type { Retention } from '../../../contract/manager-settings.ts'
import { formatFileTimestamp, parseFileTimestamp } from '../../../kit/file-timestamp.ts'

export interface ScheduledSnapshot {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly takenAt: number
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** 1970 began on a Thursday, the fourth day of a week that starts on Monday. */
const mondayOffset = 4 * dayMs

/**
 * Returns the snapshots that the retention does not keep, oldest first. It keeps the newest snapshot of each
 * of the last hours, days and weeks that have one. The newest of all is always kept.
 */
export function findExpiredSnapshots<T extends ScheduledSnapshot>(
  all: readonly T[],
  { hourly, daily, weekly }: Retention,
): T[] {
  const newestFirst = all.toSorted((a, b) => b.takenAt - a.takenAt)
  const retained = new Set<T>(newestFirst.slice(0, 1))
  const retainNewest = (max: number, toSpan: (takenAt: number) => number): void => {
    const spans = new Set<number>()
    for (const one of newestFirst) {
      const span = toSpan(one.takenAt)
      if (spans.size >= max || spans.has(span)) continue
      spans.add(span)
      retained.add(one)
    }
  }
  retainNewest(hourly, (takenAt) => Math.floor(takenAt / hourMs))
  retainNewest(daily, (takenAt) => Math.floor(takenAt / dayMs))
  retainNewest(weekly, (takenAt) => Math.floor((takenAt + mondayOffset - dayMs) / (7 * dayMs)))
  return newestFirst.filter((one) => !retained.has(one)).toReversed()
}

/**
 * Formats the file name of a scheduled snapshot, for example etcd-2026-11-16T08-00-00Z.db. Files with other
 * names were created by operators and are never removed.
 */
export function formatScheduledSnapshotName(moment: Date): string {
  return `etcd-${formatFileTimestamp(moment)}.db`
}

/** Parses the scheduled time, in milliseconds since 1970, from a snapshot's file name. */
export function parseScheduledSnapshotTime(name: string): number | undefined {
  return parseFileTimestamp(/^etcd-(.*)\.db$/.exec(name)?.[1] ?? '')?.getTime()
}
