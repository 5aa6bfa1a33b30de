import { isSettled, type Upstream } from './upstreams.ts'

export interface UpstreamCandidate {
  readonly server: string
  readonly upstream: Upstream
  /** True if the API server runs on the same host as this proxy. */
  readonly local: boolean
}

/**
 * Orders servers for a new connection: healthy, then unknown, then unhealthy ones with the oldest failure
 * first. Unhealthy servers are kept, because the proxy's own probe may be wrong. `turn` rotates servers of
 * equal rank.
 */
export function orderUpstreams(
  candidates: readonly UpstreamCandidate[],
  turn: number,
  now: number,
  settle: number,
): readonly string[] {
  const ranks = Map.groupBy(candidates, ({ upstream, local }) => {
    const rank = computeRank(upstream, now, settle)
    return rank === rankByHealth.unhealthy || local ? rank : rank + 1
  })
  return [...ranks]
    .toSorted(([a], [b]) => a - b)
    .flatMap(([rank, equals]) =>
      rank === rankByHealth.unhealthy ? sortByFailure(equals) : rotate(equals, turn),
    )
    .map(({ server }) => server)
}

/**
 * Servers with a lower rank are tried first. Servers that are not local get the odd number after their rank,
 * so the local server comes first.
 */
const rankByHealth = { settled: 0, healthy: 2, unknown: 4, unhealthy: 6 } as const

function computeRank(upstream: Upstream, now: number, settle: number): number {
  return isSettled(upstream, now, settle) ? rankByHealth.settled : rankByHealth[upstream.health]
}

function rotate<T>(items: readonly T[], turn: number): readonly T[] {
  const first = turn % items.length
  return [...items.slice(first), ...items.slice(0, first)]
}

function sortByFailure(candidates: readonly UpstreamCandidate[]): readonly UpstreamCandidate[] {
  return candidates.toSorted((a, b) => (a.upstream.lastFailure ?? 0) - (b.upstream.lastFailure ?? 0))
}
