/** A change that was made in the API. */
export interface MadeChange {
  readonly type: 'put' | 'remove'
  readonly name: string
  readonly uid: string
  readonly version: number
}

/** A change that a watching program reported. */
export interface ReportedChange {
  readonly type: 'added' | 'modified' | 'deleted'
  readonly name: string
  readonly uid: string
  readonly version: number
}

export interface WatchErrors {
  /** Changes of which nothing was reported, nor of a later change of the same object. */
  readonly missed: number
  /** Reports of an object as new that was known, as changed or deleted that was unknown, or of an old version. */
  readonly wrong: number
}

/** Compares the reported changes with those that were made. */
export function findWatchErrors(
  made: readonly MadeChange[],
  reported: readonly ReportedChange[],
): WatchErrors {
  return { missed: countMissed(made, reported), wrong: countWrong(reported) }
}

function countMissed(made: readonly MadeChange[], reported: readonly ReportedChange[]): number {
  const latest = new Map<string, number>()
  const deleted = new Set<string>()
  for (const { type, uid, version } of reported) {
    if (type === 'deleted') deleted.add(uid)
    else latest.set(uid, Math.max(version, latest.get(uid) ?? 0))
  }
  const removed = new Set(made.filter(({ type }) => type === 'remove').map(({ uid }) => uid))
  return made.filter(({ type, uid, version }) => {
    // An object that was created and deleted during an interruption need not be reported.
    if (type === 'remove') return latest.has(uid) && !deleted.has(uid)
    return !removed.has(uid) && (latest.get(uid) ?? 0) < version
  }).length
}

function countWrong(reported: readonly ReportedChange[]): number {
  const known = new Map<string, ReportedChange>()
  return reported.filter((change) => {
    const before = known.get(change.name)
    if (change.type === 'deleted') {
      known.delete(change.name)
      return before?.uid !== change.uid
    }
    known.set(change.name, change)
    if (change.type === 'added') return before !== undefined
    return before?.uid !== change.uid || before.version >= change.version
  }).length
}
