import { isSettled, type Upstream } from './upstreams.ts'

export interface Candidate {
  readonly server: string
  readonly upstream: Upstream
  /** It is on this host. */
  readonly local: boolean
}

/**
 * In which order servers are tried for a new connection: those that are well, then those we know nothing of, then the
 * others, the one that failed longest ago first. None is left out: our own look may be what is wrong. `turn` says whose
 * turn it is among equals.
 */
export function order(
  candidates: readonly Candidate[],
  turn: number,
  now: number,
  settle: number,
): readonly string[] {
  const ranks = Map.groupBy(candidates, ({ upstream, local }) => {
    const rank = rankOf(upstream, now, settle)
    return rank === ranked.unwell || local ? rank : rank + 1
  })
  return [...ranks]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([rank, equals]) => (rank === ranked.unwell ? byFailure(equals) : rotate(equals, turn)))
    .map(({ server }) => server)
}

/** Within each, the local one comes first. */
const ranked = { settled: 0, well: 2, unknown: 4, unwell: 6 } as const

function rankOf(upstream: Upstream, now: number, settle: number): number {
  return isSettled(upstream, now, settle) ? ranked.settled : ranked[upstream.health]
}

function rotate<T>(items: readonly T[], turn: number): readonly T[] {
  const first = turn % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

function byFailure(candidates: readonly Candidate[]): readonly Candidate[] {
  return candidates.toSorted((a, b) => (a.upstream.lastFailure ?? 0) - (b.upstream.lastFailure ?? 0))
}
