import type { IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import { addAbortSignal } from 'node:stream'
import type { LiveCredentials } from '../kit/credentials.ts'
import { ask, NoAnswer, type Patience, readText } from '../kit/https-request.ts'
import { refused, unanswered } from './kube-error.ts'
import type { Outcome } from './retry-request.ts'
import { described, isIdempotent, type KubeRequest, target } from './request.ts'
import { type Failure, retryAfter } from './retry-policy.ts'
import { readRefusal } from './api-status.ts'

/** What requests have in common. */
export interface Line {
  readonly agent: Agent
  readonly credentials: LiveCredentials
  readonly patience: Patience
  /** Whose rights the request has, where not those of the certificate. */
  readonly as: string | undefined
  readonly guard: () => void
}

/** A server that sends more than this must not fill our memory. */
const limit = 256 * 2 ** 20

/** One request to one server, once. Fails only with what no other attempt would mend. */
export async function attempt(
  line: Line,
  request: KubeRequest,
  server: string,
  signal: AbortSignal,
): Promise<Outcome<string>> {
  return exchange(line, request, server, { beginning: signal, whole: signal }, async (response) =>
    readText(response, limit, signal),
  )
}

/** The same for an answer that goes on and on: done as soon as it has begun. */
export async function attemptStream(
  line: Line,
  request: KubeRequest,
  server: string,
  spans: Spans,
): Promise<Outcome<IncomingMessage>> {
  return exchange(line, request, server, spans, async (response) => response)
}

export interface Spans {
  /** Ends an attempt that has not succeeded yet. */
  readonly beginning: AbortSignal
  /** Ends it, and its answer. */
  readonly whole: AbortSignal
}

async function exchange<T>(
  { agent, credentials, patience, as, guard }: Line,
  request: KubeRequest,
  server: string,
  { beginning, whole }: Spans,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<Outcome<T>> {
  const { method, body, contentType = 'application/json', accept = 'application/json' } = request
  const identity = await credentials.current()
  // Nothing may come between this and the request.
  guard()
  try {
    const response = await ask({
      url: server + target(request),
      method,
      headers: {
        accept,
        'user-agent': 'hyperkube',
        ...(as === undefined ? {} : { 'impersonate-user': as }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      agent,
      identity,
      patience,
      signal: whole,
    })
    const status = response.statusCode ?? 0
    if (status >= 200 && status < 300) return { kind: 'done', answer: await read(response) }
    addAbortSignal(beginning, response)
    return refusedOutcome(request, response, await readText(response, limit, beginning))
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error
    const mayBeDone = error.sent && !isIdempotent(request)
    return {
      kind: 'failed',
      failure: { kind: 'unanswered', why: error.why, sent: error.sent },
      error: unanswered(described(request), server, error, mayBeDone),
    }
  }
}

function refusedOutcome(
  request: KubeRequest,
  { statusCode = 0, headers }: IncomingMessage,
  text: string,
): Outcome<never> {
  const refusal = readRefusal(statusCode, text)
  const wait = retryAfter(headers['retry-after'], Date.now())
  const failure: Failure = {
    kind: 'refused',
    status: statusCode,
    retryAfter: wait,
    closing: headers.connection === 'close',
    causes: refusal.causes,
  }
  return { kind: 'failed', failure, error: refused(described(request), refusal, wait) }
}
