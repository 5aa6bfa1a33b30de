/** Result of one probe or connection attempt. */
export type UpstreamObservation =
  | { readonly kind: 'ready' }
  /** The server responds but rejects the probe, so it may be ready. */
  | { readonly kind: 'unclear'; readonly reason: string }
  | UpstreamFailure

export interface UpstreamFailure {
  /** `draining`: the server reports that it is shutting down. */
  readonly kind: 'draining' | 'unready' | 'untrusted' | 'refused' | 'silent'
  readonly reason: string
}

export type UpstreamHealth = 'unknown' | 'healthy' | 'unhealthy'

/** Observed state of a server. Times are monotonic. */
export interface Upstream {
  readonly health: UpstreamHealth
  readonly since: number
  /** Number of failures in a row. */
  readonly failures: number
  /** Number of failures in a row in which the server did not respond at all. */
  readonly unreachableCount: number
  /** Start of the first probe of the current series of failures. */
  readonly failingSince: number | undefined
  readonly lastFailure: number | undefined
  readonly lastResponse: number | undefined
  /** Usual response time of ready probes, in milliseconds. */
  readonly responseTime: number
  /** True if the last failure reported a shutdown. */
  readonly draining: boolean
  /** Time of the first refused connection since the last response, because the server probably restarts. */
  readonly refusedSince: number | undefined
  /** True if the server is healthy again after it was unhealthy. */
  readonly recovered: boolean
  /** Reason of the last failure. */
  readonly reason: string | undefined
}

/** Number of failures in a row after which a server is unhealthy. A single failure may be a lost packet. */
export const unhealthyAfterFailures = 2

const deadAfterUnreachable = 3

export function createUpstream(now: number): Upstream {
  return {
    health: 'unknown',
    since: now,
    failures: 0,
    unreachableCount: 0,
    failingSince: undefined,
    lastFailure: undefined,
    lastResponse: undefined,
    responseTime: 0,
    draining: false,
    refusedSince: undefined,
    recovered: false,
    reason: undefined,
  }
}

/** Returns the new state after a probe that ran from `startedAt` to `now`. */
export function applyObservation(
  before: Upstream,
  observation: UpstreamObservation,
  startedAt: number,
  now: number,
): Upstream {
  if (observation.kind === 'ready') {
    const responseTime = updateResponseTime(before.responseTime, now - startedAt)
    return { ...applyResponse(before, 'healthy', now), responseTime }
  }
  if (observation.kind === 'unclear')
    return { ...applyResponse(before, 'unknown', now), reason: observation.reason }
  return applyFailure(before, observation, startedAt, now)
}

function applyResponse(before: Upstream, health: UpstreamHealth, now: number): Upstream {
  const same = before.health === health
  return {
    health,
    since: same ? before.since : now,
    failures: 0,
    unreachableCount: 0,
    failingSince: undefined,
    lastFailure: before.lastFailure,
    lastResponse: now,
    responseTime: before.responseTime,
    draining: false,
    refusedSince: undefined,
    recovered: same ? before.recovered : before.health === 'unhealthy',
    reason: undefined,
  }
}

function applyFailure(
  before: Upstream,
  { kind, reason }: UpstreamFailure,
  startedAt: number,
  now: number,
): Upstream {
  // The server has responded since this probe started, so the failure is outdated.
  if (before.lastResponse !== undefined && startedAt < before.lastResponse) return before
  const failures = before.failures + 1
  const health = failures >= unhealthyAfterFailures ? 'unhealthy' : before.health
  return {
    ...before,
    health,
    since: health === before.health ? before.since : now,
    failures,
    unreachableCount: kind === 'refused' || kind === 'silent' ? before.unreachableCount + 1 : 0,
    failingSince: before.failingSince ?? startedAt,
    lastFailure: now,
    draining: kind === 'draining',
    refusedSince:
      before.refusedSince ?? (kind === 'refused' && before.lastResponse !== undefined ? now : undefined),
    reason,
  }
}

/** Updates the usual response time. A slow response raises it at once; fast responses lower it gradually. */
export function updateResponseTime(before: number, responseTime: number): number {
  return Math.max(responseTime, before * 0.8)
}

/** True if the server has repeatedly not responded at all. */
export function isDead({ health, unreachableCount }: Upstream): boolean {
  return health === 'unhealthy' && unreachableCount >= deadAfterUnreachable
}

/**
 * True if the server is healthy. After a recovery, it must have been healthy for at least `settle`
 * milliseconds.
 */
export function isSettled({ health, recovered, since }: Upstream, now: number, settle: number): boolean {
  return health === 'healthy' && (!recovered || now - since >= settle)
}

/**
 * Returns the time until which a new connection waits for a server to become ready: shortly after the last
 * server began to refuse connections. Returns -Infinity if a server may accept connections, or if a server
 * never responded. Servers that shut down still serve requests for some time.
 */
export function findRestartDeadline(upstreams: readonly Upstream[], restartTime: number): number {
  const times = upstreams.flatMap(({ refusedSince }) => (refusedSince === undefined ? [] : [refusedSince]))
  return times.length < upstreams.length ? -Infinity : Math.max(...times) + restartTime
}

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
 * Servers with a lower rank are tried first. Among healthy or unknown servers, the rank of a server that is
 * not local is one higher, so the local server comes first.
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
