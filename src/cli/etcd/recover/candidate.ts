import { duration } from '../../../kit/duration.ts'
import type { Column } from '../../table.ts'
import { count } from '../../format-text.ts'

/** What a cluster could come back from. */
export interface Candidate {
  readonly kind: 'member' | 'snapshot'
  readonly name: string
  readonly revision: number
  readonly keys: number
  /** When it was all that there was; a member is so now. */
  readonly taken: Date
}

/** Who knows most comes first: a member that is left rather than a file, for what was written to it is younger. */
export function ranked(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.toSorted(
    (a, b) => b.revision - a.revision || Number(a.kind === 'snapshot') - Number(b.kind === 'snapshot'),
  )
}

/** Where its snapshot is: one of a member is where it was put just now. */
export function placeOf(
  { kind }: Pick<Candidate, 'kind'>,
  { to, from }: { readonly to?: string | undefined; readonly from?: string | undefined },
): string | undefined {
  return kind === 'member' ? to : from
}

/** What is lost with one of them, as far as anybody knows. */
export function lossOf({ kind, revision, taken }: Candidate, best: number, now: Date): string {
  const age = kind === 'member' ? '' : `, and all since ${duration(now.getTime() - taken.getTime())} ago`
  const changes = best - revision
  return changes === 0 ? `nothing that is known here${age}` : `${count(changes, 'change')}${age}`
}

export function columnsFor(best: number, now: Date): readonly Column<Candidate>[] {
  return [
    {
      head: 'FROM',
      cell: ({ kind, name }) => ({ text: kind === 'member' ? `${name}, which answers` : name }),
    },
    { head: 'REVISION', cell: ({ revision }) => ({ text: String(revision) }) },
    { head: 'KEYS', cell: ({ keys }) => ({ text: String(keys) }) },
    { head: 'LOSES', cell: (candidate) => ({ text: lossOf(candidate, best, now) }) },
  ]
}
