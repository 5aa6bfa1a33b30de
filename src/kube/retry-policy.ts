import type { Silence } from '../kit/https-request.ts'
import type { Cause } from './api-status.ts'

/** Why there is nothing to show for an attempt. */
export type Failure =
  | {
      readonly kind: 'refused'
      readonly status: number
      /** When to come again, in milliseconds from now. */
      readonly retryAfter: number | undefined
      /** The server ends the connection: it is about to stop. */
      readonly closing: boolean
      readonly causes: readonly Cause[]
    }
  | { readonly kind: 'unanswered'; readonly why: Silence; readonly sent: boolean }

/** A pod disruption budget also answers 429. That is no crowd at the door: only time and other pods change it. */
const answers = new Set(['DisruptionBudget'])

/** Whether the same request may succeed later, and does no harm when it was already done without our knowing. */
export function shouldRetry(idempotent: boolean, failure: Failure): boolean {
  if (failure.kind === 'unanswered') return isPassing(failure.why) && (idempotent || !failure.sent)
  const { status, retryAfter: wait, causes } = failure
  if (status === 429) return !causes.some(({ reason }) => answers.has(reason))
  return idempotent && (passing.has(status) || (status >= 500 && wait !== undefined))
}

/** A gateway without a server behind it, a server without its etcd, and a server or etcd that took too long. */
const passing = new Set([502, 503, 504])

function isPassing(why: Silence): boolean {
  return why === 'unreachable' || why === 'silent' || why === 'cut'
}

/**
 * Whether another server may well give another answer, at once. Not for a crowd: what one server turns away, the next one
 * would have to bear.
 */
export function concernsServer(failure: Failure): boolean {
  if (failure.kind === 'unanswered') return failure.why !== 'long'
  return failure.status === 429 ? failure.closing : failure.status >= 500
}

/** Whether another server may be asked after this failure. One that is not ours has done nothing. */
export function mayGoElsewhere(idempotent: boolean, failure: Failure): boolean {
  const unsent = failure.kind === 'unanswered' && !failure.sent
  return concernsServer(failure) && (unsent || shouldRetry(idempotent, failure))
}

const longest = 60_000

/** The header, as milliseconds from `now` on: in seconds, or as a date. */
export function retryAfter(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  const text = header.trim()
  const wait = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), longest)
}

/** In milliseconds. */
export interface Backoff {
  readonly first: number
  readonly most: number
}

/**
 * How long to wait before the round after `round`, which counts from 0. It doubles, and lies anywhere in the upper half,
 * so that those who failed together do not come back together. `random` is from 0 to 1.
 */
export function pauseAfter(round: number, { first, most }: Backoff, random: number): number {
  const ceiling = Math.min(first * 2 ** Math.min(round, 30), most)
  return ceiling / 2 + (ceiling / 2) * random
}
