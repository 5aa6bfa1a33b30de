import type { HyperkubeError } from '../../../kit/errors.ts'
import { formatCount } from '../../../kit/text.ts'
import { formatDuration } from '../../../kit/time-format.ts'
import type { TableColumn } from '../../command/table.ts'

/** A member or snapshot from which a cluster can be recovered. */
export interface RecoveryCandidate {
  readonly kind: 'member' | 'snapshot'
  readonly name: string
  readonly revision: number
  readonly keys: number
  /** Time up to which the data is complete. For a member: the time at which it was read. */
  readonly taken: Date
}

/** Sorts by revision, highest first. At the same revision, members come before snapshots. */
export function rankCandidates(candidates: readonly RecoveryCandidate[]): readonly RecoveryCandidate[] {
  return candidates.toSorted(
    (a, b) => b.revision - a.revision || Number(a.kind === 'snapshot') - Number(b.kind === 'snapshot'),
  )
}

/**
 * Returns the first of the ranked candidates; undefined if there is none. Throws the error of a store that cannot
 * be read if that store may have a better snapshot, unless an operator decides.
 */
export function pickBest(
  [best]: readonly RecoveryCandidate[],
  [storeError]: readonly HyperkubeError[],
  isAttended: boolean,
): RecoveryCandidate | undefined {
  const mayBeOutdated = best === undefined || (best.kind === 'snapshot' && !isAttended)
  if (storeError !== undefined && mayBeOutdated) throw storeError
  return best
}

/**
 * Returns the store with the snapshot of a candidate. The data of a member was just saved to `to`; existing
 * snapshots are in `from`.
 */
export function findSnapshotLocation(
  { kind }: Pick<RecoveryCandidate, 'kind'>,
  { to, from }: { readonly to?: string | undefined; readonly from?: string | undefined },
): string | undefined {
  return kind === 'member' ? to : from
}

/**
 * Describes the changes that are lost if the cluster is recovered from a candidate, as far as they are known.
 */
export function formatLoss({ kind, revision, taken }: RecoveryCandidate, best: number, now: Date): string {
  const age =
    kind === 'member'
      ? ''
      : `, and all changes of the last ${formatDuration(now.getTime() - taken.getTime())}`
  const changes = best - revision
  return changes === 0 ? `no known change${age}` : `${formatCount(changes, 'change')}${age}`
}

export function buildCandidateColumns(best: number, now: Date): readonly TableColumn<RecoveryCandidate>[] {
  return [
    {
      head: 'FROM',
      cell: ({ kind, name }) => ({ text: kind === 'member' ? `${name} (running member)` : name }),
    },
    { head: 'REVISION', cell: ({ revision }) => ({ text: String(revision) }) },
    { head: 'KEYS', cell: ({ keys }) => ({ text: String(keys) }) },
    { head: 'LOSES', cell: (candidate) => ({ text: formatLoss(candidate, best, now) }) },
  ]
}
