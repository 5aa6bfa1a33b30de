import { z } from 'zod'
import {
  canAct,
  type Fence,
  type HostRequest,
  hostRequest,
  type HostRequestRefusal,
  type HostRequestState,
  type HostResult,
} from '../../contract/host-resource.ts'

export interface RequestDecisionInput {
  /**
   * Requests from the host's API object. They are not validated yet, and any client with write access may
   * have written them.
   */
  readonly requests: readonly unknown[]
  readonly state: HostRequestState
  /** Milliseconds since 1970. */
  readonly now: number
  /** Highest generation of the operator lock that this host has seen. */
  readonly generation: number
  /** True while an operator holds the lock of this host. Acceptable requests then wait. */
  readonly isLocked: boolean
}

export interface RequestDecision {
  /** Highest fence of all requests so far. It must be stored before a request is handled. */
  readonly highestFence: Fence | undefined
  /**
   * The next request to handle. Only one is returned, because handling it may change which other requests are
   * acceptable.
   */
  readonly next: HostRequest | undefined
  /** Refused requests. Refusals are not stored, so the same request may be sent again. */
  readonly refused: readonly HostResult[]
}

/**
 * Decides which request to handle next. A request is never started twice, even if it failed. A request is
 * refused if an earlier or current request has a higher fence.
 */
export function decideNextRequest({
  requests,
  state,
  now,
  generation,
  isLocked,
}: RequestDecisionInput): RequestDecision {
  const known = new Set(state.started.map(({ id }) => id))
  const parsed = requests.map(parseRequest)
  const highestFence = parsed.reduce<Fence | undefined>(
    (highestSoFar, { request }) =>
      request === undefined ? highestSoFar : pickHigher(request.fence, highestSoFar),
    state.highestFence,
  )
  const refused: HostResult[] = []
  let next: HostRequest | undefined
  for (const { id, request } of parsed) {
    if (id === undefined || known.has(id)) continue
    const reason =
      request === undefined ? 'unknown' : findRefusalReason(request, { highestFence, now, generation })
    if (reason !== undefined) refused.push({ id, outcome: 'refused', reason })
    else if (!isLocked) next ??= request
  }
  return { highestFence, next, refused }
}

function findRefusalReason(
  { fence, until, generation }: HostRequest,
  current: { readonly highestFence: Fence | undefined; readonly now: number; readonly generation: number },
): HostRequestRefusal | undefined {
  if (!canAct(fence, current.highestFence)) return 'fence'
  if (Date.parse(until) <= current.now) return 'late'
  return generation < current.generation ? 'generation' : undefined
}

/**
 * Returns the fence with the higher number. On a tie returns `other`, the highest fence so far. A tie between
 * two leaders should not happen.
 */
function pickHigher(one: Fence, other: Fence | undefined): Fence {
  return other === undefined || one.transitions > other.transitions ? one : other
}

const withId = z.looseObject({ id: hostRequest.shape.id })

/**
 * Parses a request. A request with an action that this agent does not know still gets its id, so it can be
 * refused.
 */
function parseRequest(value: unknown): {
  readonly id: string | undefined
  readonly request: HostRequest | undefined
} {
  return { id: withId.safeParse(value).data?.id, request: hostRequest.safeParse(value).data }
}
