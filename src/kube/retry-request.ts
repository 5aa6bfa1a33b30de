import { setTimeout as sleep } from 'node:timers/promises'
import { duration } from '../kit/duration.ts'
import { KubeError } from './kube-error.ts'
import {
  type Backoff,
  concernsServer,
  type Failure,
  mayGoElsewhere,
  pauseAfter,
  shouldRetry,
} from './retry-policy.ts'
import type { Rota } from './server-order.ts'

/** What one attempt at one server came to. */
export type Outcome<T> =
  | { readonly kind: 'done'; readonly answer: T }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly error: KubeError }

export type Attempt<T> = (server: string, signal: AbortSignal) => Promise<Outcome<T>>

export interface Terms {
  /** What is wanted, for messages. */
  readonly what: string
  readonly idempotent: boolean
  /** Give up after the first round. */
  readonly once: boolean
  /** Milliseconds for all of it. */
  readonly timeout: number
  readonly backoff: Backoff
  readonly signal: AbortSignal
  readonly random: () => number
}

type Failed = Extract<Outcome<unknown>, { kind: 'failed' }>

/** Tries at every server, and then again, as long as there is hope and time. */
export async function persist<T>(rota: Rota, attempt: Attempt<T>, terms: Terms): Promise<T> {
  const { what, idempotent, once, timeout, signal } = terms
  const deadline = performance.now() + timeout
  const late = AbortSignal.timeout(timeout)
  const either = AbortSignal.any([signal, late])
  let last: Failed[] = []
  try {
    for (let round = 0; ; round++) {
      const outcomes = await goRound(rota, async (server) => attempt(server, either), idempotent)
      last = outcomes.filter((outcome) => outcome.kind === 'failed')
      const end = outcomes.at(-1)
      if (end?.kind === 'done') return end.answer
      if (end === undefined) throw new KubeError('KUBE_UNREACHABLE', `${what}: there is no server to ask`)
      if (once || !shouldRetry(idempotent, end.failure)) break
      const pause = pauseOf(round, end.failure, terms)
      if (performance.now() + pause >= deadline) break
      await sleep(pause, undefined, { signal: either })
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!late.aborted) throw error
  }
  throw failureOf(what, last, timeout)
}

/** Ends with the first server whose answer the others would only repeat. */
async function goRound<T>(
  rota: Rota,
  attempt: (server: string) => Promise<Outcome<T>>,
  idempotent: boolean,
): Promise<Outcome<T>[]> {
  const outcomes: Outcome<T>[] = []
  for (const server of rota.turns()) {
    const outcome = await attempt(server)
    outcomes.push(outcome)
    if (outcome.kind === 'done' || !concernsServer(outcome.failure)) rota.answered(server)
    if (outcome.kind === 'done' || !mayGoElsewhere(idempotent, outcome.failure)) break
  }
  return outcomes
}

function pauseOf(round: number, failure: Failure, { backoff, random }: Terms): number {
  const asked = failure.kind === 'refused' ? failure.retryAfter : undefined
  const own = pauseAfter(round, backoff, random())
  // A little later than asked for, because all were asked to come at the same moment.
  return asked === undefined ? own : asked + random() * backoff.first
}

function failureOf(what: string, last: readonly Failed[], timeout: number): KubeError {
  const [end] = last.slice(-1)
  if (end === undefined) {
    return new KubeError('KUBE_UNREACHABLE', `${what}: no answer within ${duration(timeout)}`)
  }
  // An answer is one, whoever was away before it came.
  if (last.length === 1 || !concernsServer(end.failure)) return end.error
  const cause = new AggregateError(
    last.map(({ error }) => error),
    'in turn',
  )
  const { code, hint } = end.error
  return new KubeError(code, `${what}: none of ${last.length} servers did it`, { cause, hint })
}
