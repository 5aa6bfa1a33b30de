/** Result of one probe. */
export type UpstreamObservation =
  | { readonly kind: 'ready' }
  /** The server responds, but rejects the probe: it may well be ready. */
  | { readonly kind: 'unclear'; readonly reason: string }
  | UpstreamFailure

export interface UpstreamFailure {
  /** `draining`: the server reports that it is shutting down. */
  readonly kind: 'draining' | 'unready' | 'untrusted' | 'refused' | 'silent'
  readonly reason: string
}

export type UpstreamHealth = 'unknown' | 'healthy' | 'unhealthy'

/** What is known about a server. Times are monotonic. */
export interface Upstream {
  readonly health: UpstreamHealth
  readonly since: number
  /** In a row. */
  readonly failures: number
  /** How many of the last failures were without any response. */
  readonly unreachableCount: number
  /** Start of the first failed probe in a row. */
  readonly failingSince: number | undefined
  readonly lastFailure: number | undefined
  readonly lastResponse: number | undefined
  /** The last failure reported a shutdown. */
  readonly draining: boolean
  /** The server is healthy again after it was unhealthy. */
  readonly recovered: boolean
  /** Reason of the last failure. */
  readonly reason: string | undefined
}

/** A single failure may be a lost packet. */
const unhealthyAfterFailures = 2
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
    draining: false,
    recovered: false,
    reason: undefined,
  }
}

/** New state after a probe that started at `startedAt` and ended now. */
export function applyObservation(
  before: Upstream,
  observation: UpstreamObservation,
  startedAt: number,
  now: number,
): Upstream {
  if (observation.kind === 'ready') return applyResponse(before, 'healthy', now)
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
    draining: false,
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
  // A later probe has already been answered.
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
    reason,
  }
}

/** The server is not there: no response can be expected. */
export function isDead({ health, unreachableCount }: Upstream): boolean {
  return health === 'unhealthy' && unreachableCount >= deadAfterUnreachable
}

/** Healthy, and not only recently recovered. */
export function isSettled({ health, recovered, since }: Upstream, now: number, settle: number): boolean {
  return health === 'healthy' && (!recovered || now - since >= settle)
}
