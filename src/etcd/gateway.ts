import type { IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import type { z } from 'zod'
import { ReloadingCredentials, type TlsCredentials } from '../kit/credentials.ts'
import { readResponseText, RequestError, sendRequest } from '../kit/https-request.ts'
import { createHttpsAgent, type Dial } from '../kit/tunnel.ts'
import { EtcdError, toEtcdConnectionError, toEtcdRefusal, tryParseJson } from './etcd-error.ts'

export interface EtcdCallOptions {
  readonly signal?: AbortSignal | undefined
  readonly timeoutMs?: number | undefined
}

export interface GatewayResponse {
  readonly status: number
  readonly text: string
}

/**
 * Default timeout of a request. It is longer than etcd's own wait for a quorum, so that etcd's error message
 * arrives first.
 */
const defaultTimeoutMs = 12_000
const connectTimeoutMs = 3000
const maxResponseBytes = 4 * 2 ** 20
/**
 * Number of requests that callers may send at once. That many connections are kept open: a TLS handshake
 * costs a member much more than a request.
 */
export const maxParallelRequests = 8
/** A stream fails if no data arrives for this time. */
const stallTimeoutMs = 30_000

/** Client of etcd's JSON gateway. Each call names its endpoint. */
export class Gateway {
  readonly #credentials: ReloadingCredentials
  readonly #signal: AbortSignal
  readonly #agent: Agent

  constructor(
    credentials: TlsCredentials,
    signal: AbortSignal,
    dial?: Dial,
    maxConnections: number = Number.POSITIVE_INFINITY,
  ) {
    this.#credentials = new ReloadingCredentials(credentials)
    this.#signal = signal
    this.#agent = createHttpsAgent(dial, {
      keepAlive: true,
      maxSockets: maxConnections,
      maxFreeSockets: maxParallelRequests,
      timeout: 60_000,
    })
  }

  /** Posts a request. `path` has no version prefix, for example cluster/member/list. */
  async post<T>(
    endpoint: string,
    path: string,
    body: object,
    schema: z.ZodType<T>,
    options: EtcdCallOptions = {},
  ): Promise<T> {
    const response = await this.#send(endpoint, 'POST', `/v3/${path}`, JSON.stringify(body), options)
    if (response.status !== 200) throw toEtcdRefusal(path, endpoint, response.status, response.text)
    const parsed = schema.safeParse(tryParseJson(response.text))
    if (parsed.success) return parsed.data
    throw new EtcdError(
      'ETCD_INVALID_RESPONSE',
      `${path}: ${endpoint}: the response has an unexpected format`,
      {
        cause: parsed.error,
        sent: true,
      },
    )
  }

  async get(endpoint: string, path: string, options: EtcdCallOptions = {}): Promise<GatewayResponse> {
    return this.#send(endpoint, 'GET', path, undefined, options)
  }

  /** Posts a request and streams the response, which may have any length. */
  async *stream(
    endpoint: string,
    path: string,
    body: object,
    { signal, timeoutMs = stallTimeoutMs }: EtcdCallOptions = {},
  ): AsyncGenerator<Uint8Array> {
    const callerSignal = this.#withClientSignal(signal)
    const stalled = new AbortController()
    const timer = setTimeout(() => stalled.abort(), timeoutMs)
    const stopSignal = AbortSignal.any([callerSignal, stalled.signal])
    try {
      const response = await this.#request(
        endpoint,
        'POST',
        `/v3/${path}`,
        JSON.stringify(body),
        defaultTimeoutMs,
        stopSignal,
      )
      if (response.statusCode !== 200) {
        const text = await readResponseText(response, maxResponseBytes, stopSignal)
        throw toEtcdRefusal(path, endpoint, response.statusCode ?? 0, text)
      }
      for await (const chunk of response) {
        timer.refresh()
        yield chunk
      }
    } catch (error) {
      callerSignal.throwIfAborted()
      if (stopSignal.aborted) throw toTimeoutError(path, endpoint, timeoutMs)
      if (error instanceof EtcdError) throw error
      throw toEtcdConnectionError(
        path,
        endpoint,
        error instanceof RequestError
          ? error
          : new RequestError('cut', true, 'the response is incomplete', error),
      )
    } finally {
      clearTimeout(timer)
    }
  }

  async #send(
    endpoint: string,
    method: string,
    path: string,
    body: string | undefined,
    { signal, timeoutMs = defaultTimeoutMs }: EtcdCallOptions,
  ): Promise<GatewayResponse> {
    const callerSignal = this.#withClientSignal(signal)
    const stopSignal = AbortSignal.any([callerSignal, AbortSignal.timeout(timeoutMs)])
    try {
      const response = await this.#request(
        endpoint,
        method,
        path,
        body,
        Math.max(defaultTimeoutMs, timeoutMs),
        stopSignal,
      )
      return {
        status: response.statusCode ?? 0,
        text: await readResponseText(response, maxResponseBytes, stopSignal),
      }
    } catch (error) {
      callerSignal.throwIfAborted()
      if (stopSignal.aborted) throw toTimeoutError(path, endpoint, timeoutMs)
      throw error instanceof RequestError ? toEtcdConnectionError(path, endpoint, error) : error
    }
  }

  async #request(
    endpoint: string,
    method: string,
    path: string,
    body: string | undefined,
    responseMs: number,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    return sendRequest({
      url: endpoint + path,
      method,
      headers: { 'user-agent': 'hyperkube', 'content-type': 'application/json' },
      body,
      agent: this.#agent,
      identity: await this.#credentials.current(),
      timeouts: { connectMs: connectTimeoutMs, responseMs },
      signal,
    })
  }

  #withClientSignal(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#signal : AbortSignal.any([this.#signal, signal])
  }

  close(): void {
    this.#agent.destroy()
  }
}

function toTimeoutError(path: string, endpoint: string, timeout: number): EtcdError {
  const message = `${path}: ${endpoint}: no answer within ${timeout} ms`
  return new EtcdError('ETCD_UNREACHABLE', message, { sent: true })
}
