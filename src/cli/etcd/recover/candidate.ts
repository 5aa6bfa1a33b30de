import { formatDuration } from '../../../kit/duration.ts'
import type { TableColumn } from '../../table.ts'
import { formatCount } from '../../format-text.ts'

/** A member or snapshot that a cluster could be recovered from. */
export interface RecoveryCandidate {
  readonly kind: 'member' | 'snapshot'
  readonly name: string
  readonly revision: number
  readonly keys: number
  /** When the data was complete; for a member that is now. */
  readonly taken: Date
}

/**
 * Sorts by revision, highest first. At the same revision a member comes before a snapshot, because it may
 * have received later writes.
 */
export function rankCandidates(candidates: readonly RecoveryCandidate[]): readonly RecoveryCandidate[] {
  return candidates.toSorted(
    (a, b) => b.revision - a.revision || Number(a.kind === 'snapshot') - Number(b.kind === 'snapshot'),
  )
}

/** Where the snapshot is: the snapshot of a member is where it was just saved. */
export function findSnapshotLocation(
  { kind }: Pick<RecoveryCandidate, 'kind'>,
  { to, from }: { readonly to?: string | undefined; readonly from?: string | undefined },
): string | undefined {
  return kind === 'member' ? to : from
}

/** Describes what would be lost with a candidate, as far as it is known. */
export function formatLoss({ kind, revision, taken }: RecoveryCandidate, best: number, now: Date): string {
  const age =
    kind === 'member' ? '' : `, and all since ${formatDuration(now.getTime() - taken.getTime())} ago`
  const changes = best - revision
  return changes === 0 ? `nothing that is known here${age}` : `${formatCount(changes, 'change')}${age}`
}

export function buildCandidateColumns(best: number, now: Date): readonly TableColumn<RecoveryCandidate>[] {
  return [
    {
      head: 'FROM',
      cell: ({ kind, name }) => ({ text: kind === 'member' ? `${name}, which answers` : name }),
    },
    { head: 'REVISION', cell: ({ revision }) => ({ text: String(revision) }) },
    { head: 'KEYS', cell: ({ keys }) => ({ text: String(keys) }) },
    { head: 'LOSES', cell: (candidate) => ({ text: formatLoss(candidate, best, now) }) },
  ]
}
