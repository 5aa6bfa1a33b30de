import type { RequestErrorReason } from '../kit/https-request.ts'
import type { StatusCause } from './api-status.ts'

/** Why an attempt failed. */
export type KubeRequestFailure =
  | {
      readonly kind: 'refused'
      readonly status: number
      /** Milliseconds until a retry is allowed. */
      readonly retryAfterMs: number | undefined
      /** The server closes the connection because it is about to stop. */
      readonly closing: boolean
      readonly causes: readonly StatusCause[]
    }
  | { readonly kind: 'unanswered'; readonly reason: RequestErrorReason; readonly sent: boolean }

/** A pod disruption budget also responds with 429. It is not overload: only time and other pods change it. */
const finalReasons = new Set(['DisruptionBudget'])

/** Whether the same request may succeed later, and is harmless if it was already executed. */
export function shouldRetry(idempotent: boolean, failure: KubeRequestFailure): boolean {
  if (failure.kind === 'unanswered') return isTransient(failure.reason) && (idempotent || !failure.sent)
  const { status, retryAfterMs: wait, causes } = failure
  if (status === 429) return !causes.some(({ reason }) => finalReasons.has(reason))
  return idempotent && (transientStatuses.has(status) || (status >= 500 && wait !== undefined))
}

/** A gateway without a server, a server without etcd, or a timeout of one of them. */
const transientStatuses = new Set([502, 503, 504])

function isTransient(reason: RequestErrorReason): boolean {
  return reason === 'unreachable' || reason === 'silent' || reason === 'cut'
}

/**
 * Whether another server may respond differently right now. False for overload: other servers would have to
 * take the load.
 */
export function isServerSpecific(failure: KubeRequestFailure): boolean {
  if (failure.kind === 'unanswered') return failure.reason !== 'long'
  return failure.status === 429 ? failure.closing : failure.status >= 500
}

/** Whether another server may be tried after this failure. A request that was not sent has had no effect. */
export function canTryNextServer(idempotent: boolean, failure: KubeRequestFailure): boolean {
  const unsent = failure.kind === 'unanswered' && !failure.sent
  return isServerSpecific(failure) && (unsent || shouldRetry(idempotent, failure))
}

const maxRetryAfterMs = 60_000

/** Parses the header, in seconds or as a date, into milliseconds from `now`. */
export function parseRetryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), maxRetryAfterMs)
}

/** In milliseconds. */
export interface Backoff {
  readonly initial: number
  readonly max: number
}

/**
 * Delay before the round after `round`, which counts from 0. The delay doubles and is spread over its upper
 * half, so that clients that failed together do not retry together. `random` is from 0 to 1.
 */
export function backoffDelay(round: number, { initial, max }: Backoff, random: number): number {
  const ceiling = Math.min(initial * 2 ** Math.min(round, 30), max)
  return ceiling / 2 + (ceiling / 2) * random
}
