import type { RequestErrorReason } from '../kit/https-request.ts'
import type { StatusCause } from './kube-error.ts'

/** Reason why an attempt failed. */
export type KubeRequestFailure =
  | {
      readonly kind: 'refused'
      readonly status: number
      /** Milliseconds until a retry is allowed. */
      readonly retryAfterMs: number | undefined
      /** True if the server closes the connection because it is shutting down. */
      readonly closing: boolean
      readonly causes: readonly StatusCause[]
      /** Message of the API. */
      readonly message: string
    }
  | { readonly kind: 'unanswered'; readonly reason: RequestErrorReason; readonly sent: boolean }

/**
 * Causes that make a 429 response final. The API also responds with 429 if a pod disruption budget forbids an
 * eviction, although the server is not overloaded.
 */
const finalReasons = new Set(['DisruptionBudget'])

/**
 * True if the same request may succeed later and can safely be sent again: the request is idempotent, or the
 * API has not executed it.
 */
export function shouldRetry(idempotent: boolean, failure: KubeRequestFailure): boolean {
  if (failure.kind === 'unanswered') return isTransient(failure.reason) && (idempotent || !failure.sent)
  const { status, retryAfterMs: wait, causes, message } = failure
  if (status === 429) return !causes.some(({ reason }) => finalReasons.has(reason))
  if (!idempotent || status < 500) return false
  return transientStatuses.has(status) || wait !== undefined || electionMessage.test(message)
}

/** Errors of etcd while its members elect a leader. The API reports them with status 500. */
const electionMessage = /^etcdserver: (request timed out|leader changed|no leader)/

/**
 * Statuses of temporary failures: a gateway cannot reach a server, a server is unavailable, or a timeout
 * expired.
 */
const transientStatuses = new Set([502, 503, 504])

function isTransient(reason: RequestErrorReason): boolean {
  return reason === 'unreachable' || reason === 'silent' || reason === 'cut'
}

/**
 * True if another server may respond differently right now. False for overload, because a retry would only
 * move the load to another server.
 */
export function isServerSpecific(failure: KubeRequestFailure): boolean {
  if (failure.kind === 'unanswered') return failure.reason !== 'long'
  return failure.status === 429 ? failure.closing : failure.status >= 500
}

/**
 * True if another server may be tried after this failure. A request that was not sent may always be sent to
 * another server, because it has had no effect.
 */
export function canTryNextServer(idempotent: boolean, failure: KubeRequestFailure): boolean {
  const unsent = failure.kind === 'unanswered' && !failure.sent
  return isServerSpecific(failure) && (unsent || shouldRetry(idempotent, failure))
}

const maxRetryAfterMs = 60_000

/** Parses a Retry-After header (seconds or date). Returns milliseconds from `now`. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), maxRetryAfterMs)
}

/** Initial and maximum delay between attempts, in milliseconds. */
export interface Backoff {
  readonly initial: number
  readonly max: number
}

/**
 * Returns the delay after round `round`, which counts from 0. The delay doubles each round. The upper half of
 * the delay is random (`random` from 0 to 1), so clients that failed together do not retry together.
 */
export function backoffDelay(round: number, { initial, max }: Backoff, random: number): number {
  const ceiling = Math.min(initial * 2 ** Math.min(round, 30), max)
  return ceiling / 2 + (ceiling / 2) * random
}
