import type { IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import type { LiveCredentials } from '../kit/credentials.ts'
import { ask, NoAnswer, type Patience, readText } from '../kit/exchange.ts'
import { refused, unanswered } from './kube-error.ts'
import type { Outcome } from './persist.ts'
import { described, isIdempotent, type KubeRequest, target } from './request.ts'
import { type Failure, retryAfter } from './retry.ts'
import { readRefusal } from './status.ts'

/** What requests have in common. */
export interface Line {
  readonly agent: Agent
  readonly credentials: LiveCredentials
  readonly patience: Patience
}

/** A server that sends more than this must not fill our memory. */
const limit = 256 * 2 ** 20

/** One request to one server, once. Fails only with what no other attempt would mend. */
export async function attempt(
  { agent, credentials, patience }: Line,
  request: KubeRequest,
  server: string,
  signal: AbortSignal,
): Promise<Outcome> {
  const { method, body, contentType = 'application/json' } = request
  try {
    const response = await ask({
      url: server + target(request),
      method,
      headers: {
        accept: 'application/json',
        'user-agent': 'hyperkube',
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      agent,
      identity: await credentials.current(),
      patience,
      signal,
    })
    const text = await readText(response, limit, signal)
    const status = response.statusCode ?? 0
    return status >= 200 && status < 300 ? { kind: 'done', text } : refusedOutcome(request, response, text)
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
): Outcome {
  const refusal = readRefusal(statusCode, text)
  const failure: Failure = {
    kind: 'refused',
    status: statusCode,
    retryAfter: retryAfter(headers['retry-after'], Date.now()),
    closing: headers.connection === 'close',
    causes: refusal.causes,
  }
  return { kind: 'failed', failure, error: refused(described(request), refusal) }
}
