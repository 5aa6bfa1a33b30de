import { setTimeout as sleep } from 'node:timers/promises'
import { formatDuration } from '../kit/time-format.ts'
import { KubeError } from './kube-error.ts'
import {
  type Backoff,
  backoffDelay,
  canTryNextServer,
  isServerSpecific,
  type KubeRequestFailure,
  shouldRetry,
} from './retry-policy.ts'

/** Result of one attempt with one server. */
export type AttemptResult<T> =
  | { readonly kind: 'done'; readonly value: T }
  | { readonly kind: 'failed'; readonly failure: KubeRequestFailure; readonly error: KubeError }

export type Attempt<T> = (server: string, signal: AbortSignal) => Promise<AttemptResult<T>>

export interface KubeRetryOptions {
  /** Names the request in messages. */
  readonly what: string
  readonly idempotent: boolean
  /** True to try each server only once. */
  readonly once: boolean
  /** Milliseconds for all attempts together. */
  readonly timeout: number
  readonly backoff: Backoff
  readonly signal: AbortSignal
  readonly random: () => number
}

type FailedAttempt = Extract<AttemptResult<unknown>, { kind: 'failed' }>

/** Tries all servers in rounds until a request succeeds, a retry is pointless or the timeout is over. */
export async function retryRequest<T>(
  serverOrder: ServerOrder,
  attempt: Attempt<T>,
  options: KubeRetryOptions,
): Promise<T> {
  const { what, idempotent, once, timeout, signal } = options
  const deadline = performance.now() + timeout
  const timedOut = AbortSignal.timeout(timeout)
  const either = AbortSignal.any([signal, timedOut])
  let last: FailedAttempt[] = []
  try {
    for (let round = 0; ; round++) {
      const outcomes = await tryEachServer(serverOrder, async (server) => attempt(server, either), idempotent)
      last = outcomes.filter((outcome) => outcome.kind === 'failed')
      const final = outcomes.at(-1)
      if (final?.kind === 'done') return final.value
      if (final === undefined) throw new KubeError('KUBE_UNREACHABLE', `${what}: no API server is known`)
      if (once || !shouldRetry(idempotent, final.failure)) break
      const delay = computeDelay(round, final.failure, options)
      if (performance.now() + delay >= deadline) break
      await sleep(delay, undefined, { signal: either })
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!timedOut.aborted) throw error
  }
  throw toFinalError(what, last, timeout)
}

/**
 * Tries one server after the other. Stops after a success, or after a failure for which another server must
 * not be tried.
 */
async function tryEachServer<T>(
  serverOrder: ServerOrder,
  attempt: (server: string) => Promise<AttemptResult<T>>,
  idempotent: boolean,
): Promise<AttemptResult<T>[]> {
  const outcomes: AttemptResult<T>[] = []
  for (const server of serverOrder.list()) {
    const outcome = await attempt(server)
    outcomes.push(outcome)
    if (outcome.kind === 'done' || !isServerSpecific(outcome.failure)) serverOrder.prefer(server)
    if (outcome.kind === 'done' || !canTryNextServer(idempotent, outcome.failure)) break
  }
  return outcomes
}

function computeDelay(
  round: number,
  failure: KubeRequestFailure,
  { backoff, random }: KubeRetryOptions,
): number {
  const requestedDelay = failure.kind === 'refused' ? failure.retryAfterMs : undefined
  const backoffMs = backoffDelay(round, backoff, random())
  // A random delay is added, because the server sends the same Retry-After to all clients.
  return requestedDelay === undefined ? backoffMs : requestedDelay + random() * backoff.initial
}

function toFinalError(what: string, last: readonly FailedAttempt[], timeout: number): KubeError {
  const [final] = last.slice(-1)
  if (final === undefined) {
    return new KubeError('KUBE_UNREACHABLE', `${what}: no answer within ${formatDuration(timeout)}`)
  }
  // A response that does not depend on the server is final, even if other servers were unreachable.
  if (last.length === 1 || !isServerSpecific(final.failure)) return final.error
  const cause = new AggregateError(
    last.map(({ error }) => error),
    'in turn',
  )
  const { code, hint } = final.error
  return new KubeError(code, `${what}: all ${last.length} servers failed`, { cause, hint })
}

/** Order in which servers are tried. The server that responded last comes first. */
export class ServerOrder {
  readonly #servers: readonly string[]
  #first = 0

  constructor(servers: readonly string[]) {
    this.#servers = servers
  }

  /** Lists all servers in the order to try them. */
  list(): readonly string[] {
    return [...this.#servers.slice(this.#first), ...this.#servers.slice(0, this.#first)]
  }

  prefer(server: string): void {
    this.#first = Math.max(this.#servers.indexOf(server), 0)
  }
}
