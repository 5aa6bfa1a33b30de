/** What one look at a server has shown. */
export type Observation =
  | { readonly kind: 'ready' }
  /** It answers, but does not tell us: it may well be ready. */
  | { readonly kind: 'unclear'; readonly reason: string }
  | Failure

export interface Failure {
  /** `draining`: it says that it is about to end, and will do so by itself. */
  readonly kind: 'draining' | 'unready' | 'untrusted' | 'refused' | 'silent'
  readonly reason: string
}

export type Health = 'unknown' | 'well' | 'unwell'

/** What we think of a server. Times are of a clock that only goes forward. */
export interface Upstream {
  readonly health: Health
  readonly since: number
  /** In a row. */
  readonly failures: number
  /** The last of them in which nobody answered at all. */
  readonly unreachable: number
  /** When the first of them began. */
  readonly failingSince: number | undefined
  readonly lastFailure: number | undefined
  readonly lastAnswer: number | undefined
  /** It said so when it last failed. */
  readonly draining: boolean
  /** It is well after it was unwell. */
  readonly returned: boolean
  /** What the last failure was. */
  readonly reason: string | undefined
}

/** One failure may be a lost packet. */
const failuresOfUnwell = 2
const unreachableOfDead = 3

export function unknownUpstream(now: number): Upstream {
  return {
    health: 'unknown',
    since: now,
    failures: 0,
    unreachable: 0,
    failingSince: undefined,
    lastFailure: undefined,
    lastAnswer: undefined,
    draining: false,
    returned: false,
    reason: undefined,
  }
}

/** What we think after a look that began at `askedAt` and ended now. */
export function observe(before: Upstream, seen: Observation, askedAt: number, now: number): Upstream {
  if (seen.kind === 'ready') return answered(before, 'well', now)
  if (seen.kind === 'unclear') return { ...answered(before, 'unknown', now), reason: seen.reason }
  return failed(before, seen, askedAt, now)
}

function answered(before: Upstream, health: Health, now: number): Upstream {
  const same = before.health === health
  return {
    health,
    since: same ? before.since : now,
    failures: 0,
    unreachable: 0,
    failingSince: undefined,
    lastFailure: before.lastFailure,
    lastAnswer: now,
    draining: false,
    returned: same ? before.returned : before.health === 'unwell',
    reason: undefined,
  }
}

function failed(before: Upstream, { kind, reason }: Failure, askedAt: number, now: number): Upstream {
  // Who was asked later has answered already.
  if (before.lastAnswer !== undefined && askedAt < before.lastAnswer) return before
  const failures = before.failures + 1
  const health = failures >= failuresOfUnwell ? 'unwell' : before.health
  return {
    ...before,
    health,
    since: health === before.health ? before.since : now,
    failures,
    unreachable: kind === 'refused' || kind === 'silent' ? before.unreachable + 1 : 0,
    failingSince: before.failingSince ?? askedAt,
    lastFailure: now,
    draining: kind === 'draining',
    reason,
  }
}

/** Nobody is there: no answer can be hoped for. */
export function isDead({ health, unreachable }: Upstream): boolean {
  return health === 'unwell' && unreachable >= unreachableOfDead
}

/** Well, and not only since a moment ago. */
export function isSettled({ health, returned, since }: Upstream, now: number, settle: number): boolean {
  return health === 'well' && (!returned || now - since >= settle)
}
