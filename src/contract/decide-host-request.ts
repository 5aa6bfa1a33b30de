import {
  canAct,
  type Fence,
  type HostAction,
  type HostRequest,
  hostRequest,
  type HostResult,
  type HostStatus,
  maxHostRequests,
} from './host-resource.ts'

/** The parts of a Host object that matter for a new request. */
export interface HostRequestView {
  readonly spec: { readonly requests?: readonly unknown[] | undefined }
  readonly status: Pick<HostStatus, 'results' | 'highestFence' | 'generation'>
}

/** An action that a controller wants a host to run. */
export interface HostRequestSpec {
  /**
   * Id of the request. Every leader must use the same id for the same action, because a host runs each id at
   * most once.
   */
  readonly id: string
  readonly action: HostAction
  /** Milliseconds from now after which the host must not start the action any more. */
  readonly startTimeoutMs: number
}

export type HostRequestStep =
  | { readonly kind: 'result'; readonly result: HostResult }
  /** The request is in the Host object and has no result yet. */
  | { readonly kind: 'open' }
  | { readonly kind: 'write'; readonly requests: readonly unknown[] }
  /**
   * The host or another request has a higher fence. If the caller is still the leader, it must raise its own
   * fence above `highestFence`.
   */
  | { readonly kind: 'outranked'; readonly highestFence: Fence }
  /** Too many requests are pending. */
  | { readonly kind: 'full' }

/** Decides the next step for a desired request, given the current Host object. */
export function decideHostRequest(
  { spec, status }: HostRequestView,
  desired: HostRequestSpec,
  fence: Fence,
  now: number,
): HostRequestStep {
  const { id, action, startTimeoutMs } = desired
  const requests = spec.requests ?? []
  const result = status.results?.find((one) => one.id === id)
  if (result !== undefined && !canRetry(result)) return { kind: 'result', result }
  const existing = requests.flatMap((one) => hostRequest.safeParse(one).data ?? [])
  const highestFence = [...existing.map((one) => one.fence), status.highestFence].find(
    (one) => one !== undefined && !canAct(fence, one),
  )
  if (highestFence !== undefined) return { kind: 'outranked', highestFence }
  const generation = status.generation ?? 0
  const previous = existing.find((one) => one.id === id)
  if (previous !== undefined && isUpToDate(previous, fence, generation)) return { kind: 'open' }
  const until = previous?.until ?? new Date(now + startTimeoutMs).toISOString()
  const request: HostRequest = { id, fence, generation, until, action }
  const others = requests.filter((one) => isOtherPending(one, id, status.results ?? []))
  if (others.length >= maxHostRequests) return { kind: 'full' }
  return { kind: 'write', requests: [...others, request] }
}

/**
 * True if the host refused the request only because the request's fence or generation was outdated. Such a
 * request may be written again.
 */
function canRetry(result: HostResult): boolean {
  return result.outcome === 'refused' && (result.reason === 'fence' || result.reason === 'generation')
}

function isUpToDate(previous: HostRequest, fence: Fence, generation: number): boolean {
  return (
    previous.fence.holder === fence.holder &&
    previous.fence.transitions === fence.transitions &&
    previous.generation >= generation
  )
}

/** True if `request` has another id than `own` and has no result yet. */
function isOtherPending(request: unknown, own: string, results: readonly HostResult[]): boolean {
  const id: unknown = Reflect.get(Object(request), 'id')
  return id !== own && !results.some((result) => result.id === id)
}
