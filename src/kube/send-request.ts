import type { IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import { addAbortSignal } from 'node:stream'
import { readResponseText, RequestError, type RequestTimeouts, sendRequest } from '../kit/https-request.ts'
import type { CredentialsSource } from './credentials.ts'
import { buildNoResponseError, buildRefusalError, parseErrorResponse } from './kube-error.ts'
import { buildRequestTarget, describeRequest, isIdempotent, type KubeRequest } from './request.ts'
import { type KubeRequestFailure, parseRetryAfter } from './retry-policy.ts'
import type { AttemptResult } from './retry-request.ts'

/** Settings that all requests of a client share. */
export interface KubeRequestContext {
  readonly agent: Agent
  readonly credentials: CredentialsSource
  readonly timeouts: RequestTimeouts
  /** Value of the header User-Agent. */
  readonly userAgent: string
  /** User to impersonate; undefined to act as the user of the certificate. */
  readonly impersonate: string | undefined
  readonly guard: () => void
  readonly maxResponseBytes: number
}

/** Sends a request to a server once. Throws only errors that another attempt cannot fix. */
export async function sendKubeRequest(
  context: KubeRequestContext,
  request: KubeRequest,
  server: string,
  signal: AbortSignal,
): Promise<AttemptResult<string>> {
  return exchange(context, request, server, { startSignal: signal, streamSignal: signal }, async (response) =>
    readResponseText(response, context.maxResponseBytes, signal),
  )
}

/**
 * Like `sendKubeRequest`, but returns the response as soon as it has begun. Used for responses of unknown
 * length.
 */
export async function openKubeStream(
  context: KubeRequestContext,
  request: KubeRequest,
  server: string,
  signals: StreamSignals,
): Promise<AttemptResult<IncomingMessage>> {
  return exchange(context, request, server, signals, async (response) => response)
}

export interface StreamSignals {
  /** Aborts the attempt, but only before the response has begun. */
  readonly startSignal: AbortSignal
  /** Aborts the attempt and its response. */
  readonly streamSignal: AbortSignal
}

async function exchange<T>(
  { agent, credentials, timeouts, userAgent, impersonate, guard, maxResponseBytes }: KubeRequestContext,
  request: KubeRequest,
  server: string,
  { startSignal, streamSignal }: StreamSignals,
  read: (response: IncomingMessage) => Promise<T>,
): Promise<AttemptResult<T>> {
  const { method, body, contentType = 'application/json', accept = 'application/json' } = request
  const { token, ...identity } = await credentials.current()
  // The guard must run directly before the request, without an await in between.
  guard()
  try {
    const response = await sendRequest({
      url: server + buildRequestTarget(request),
      method,
      headers: {
        accept,
        'user-agent': userAgent,
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(impersonate === undefined ? {} : { 'impersonate-user': impersonate }),
        ...(body === undefined ? {} : { 'content-type': contentType }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      agent,
      identity,
      timeouts,
      signal: streamSignal,
    })
    const status = response.statusCode ?? 0
    if (status >= 200 && status < 300) return { kind: 'done', value: await read(response) }
    addAbortSignal(startSignal, response)
    return toRefusedResult(request, response, await readResponseText(response, maxResponseBytes, startSignal))
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const mayBeDone = error.sent && !isIdempotent(request)
    return {
      kind: 'failed',
      failure: { kind: 'unanswered', reason: error.reason, sent: error.sent },
      error: buildNoResponseError(describeRequest(request), server, error, mayBeDone),
    }
  }
}

function toRefusedResult(
  request: KubeRequest,
  { statusCode = 0, headers }: IncomingMessage,
  text: string,
): AttemptResult<never> {
  const apiStatus = parseErrorResponse(statusCode, text)
  const wait = parseRetryAfter(headers['retry-after'], Date.now())
  const failure: KubeRequestFailure = {
    kind: 'refused',
    status: statusCode,
    retryAfterMs: wait,
    closing: headers.connection === 'close',
    causes: apiStatus.causes,
    message: apiStatus.message,
  }
  return { kind: 'failed', failure, error: buildRefusalError(describeRequest(request), apiStatus, wait) }
}
