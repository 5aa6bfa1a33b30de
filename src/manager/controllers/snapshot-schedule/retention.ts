import type { Retention } from '../../../contract/manager-settings.ts'
import { stampOf, timeOf } from '../../../kit/file-timestamp.ts'

export interface Kept {
  readonly name: string
  /** Milliseconds since 1970. */
  readonly taken: number
}

const hour = 3_600_000
const day = 24 * hour
/** 1970 began on a Thursday; weeks begin on Mondays. */
const monday = 4 * day

/**
 * Those that nothing keeps, the oldest first: of each of the last so many hours, days and weeks that have one, the newest
 * stays. The newest of all always does.
 */
export function superfluous<T extends Kept>(all: readonly T[], { hourly, daily, weekly }: Retention): T[] {
  const newestFirst = all.toSorted((a, b) => b.taken - a.taken)
  const kept = new Set<T>(newestFirst.slice(0, 1))
  const keep = (most: number, spanOf: (taken: number) => number): void => {
    const spans = new Set<number>()
    for (const one of newestFirst) {
      const span = spanOf(one.taken)
      if (spans.size >= most || spans.has(span)) continue
      spans.add(span)
      kept.add(one)
    }
  }
  keep(hourly, (taken) => Math.floor(taken / hour))
  keep(daily, (taken) => Math.floor(taken / day))
  keep(weekly, (taken) => Math.floor((taken + monday - day) / (7 * day)))
  return newestFirst.filter((one) => !kept.has(one)).toReversed()
}

/** etcd-2026-11-16T08-00-00Z.db: what bears another name was put there by somebody for a reason. */
export function nameFor(moment: Date): string {
  return `etcd-${stampOf(moment)}.db`
}

/** When one was due that bears such a name. */
export function momentOf(name: string): number | undefined {
  return timeOf(/^etcd-(.*)\.db$/.exec(name)?.[1] ?? '')?.getTime()
}
