import type { IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import type { z } from 'zod'
import { type Credentials, LiveCredentials } from '../kit/credentials.ts'
import { EtcdError, jsonOf, refused, unanswered } from './etcd-error.ts'
import { ask, NoAnswer, readText } from '../kit/https-request.ts'
import { agentOver, type Dial } from '../kit/tunnel-agent.ts'

export interface CallOptions {
  readonly signal?: AbortSignal | undefined
  /** In milliseconds. */
  readonly timeout?: number | undefined
}

export interface Page {
  readonly status: number
  readonly text: string
}

/** Longer than etcd itself waits for a quorum, so that its own words are heard. */
const usual = 12_000
const connect = 3000
const limit = 4 * 2 ** 20
/** So long without a byte is no answer any more. */
const stall = 30_000

/** etcd's own way to be asked in JSON, at one endpoint at a time. */
export class Gateway {
  readonly #credentials: LiveCredentials
  readonly #signal: AbortSignal
  readonly #agent: Agent

  constructor(credentials: Credentials, signal: AbortSignal, dial?: Dial) {
    this.#credentials = new LiveCredentials(credentials)
    this.#signal = signal
    this.#agent = agentOver(dial, { keepAlive: true, maxFreeSockets: 2, timeout: 60_000 })
  }

  /** `path` is without the version: cluster/member/list. */
  async post<T>(
    endpoint: string,
    path: string,
    body: object,
    schema: z.ZodType<T>,
    options: CallOptions = {},
  ): Promise<T> {
    const page = await this.#send(endpoint, 'POST', `/v3/${path}`, JSON.stringify(body), options)
    if (page.status !== 200) throw refused(path, endpoint, page.status, page.text)
    const parsed = schema.safeParse(jsonOf(page.text))
    if (parsed.success) return parsed.data
    throw new EtcdError('ETCD_ANSWER', `${path}: ${endpoint}: the answer is not what it should be`, {
      cause: parsed.error,
      sent: true,
    })
  }

  async page(endpoint: string, path: string, options: CallOptions = {}): Promise<Page> {
    return this.#send(endpoint, 'GET', path, undefined, options)
  }

  /** An answer that goes on for as long as it takes, in whatever pieces it comes. */
  async *stream(
    endpoint: string,
    path: string,
    body: object,
    { signal, timeout = stall }: CallOptions = {},
  ): AsyncGenerator<Uint8Array> {
    const given = this.#either(signal)
    const silence = new AbortController()
    const timer = setTimeout(() => silence.abort(), timeout)
    const either = AbortSignal.any([given, silence.signal])
    try {
      const response = await this.#ask(endpoint, 'POST', `/v3/${path}`, JSON.stringify(body), usual, either)
      if (response.statusCode !== 200) {
        const text = await readText(response, limit, either)
        throw refused(path, endpoint, response.statusCode ?? 0, text)
      }
      for await (const chunk of response) {
        timer.refresh()
        yield chunk
      }
    } catch (error) {
      given.throwIfAborted()
      if (either.aborted) throw late(path, endpoint, timeout)
      if (error instanceof EtcdError) throw error
      throw unanswered(
        path,
        endpoint,
        error instanceof NoAnswer ? error : new NoAnswer('cut', true, 'the answer was cut', error),
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
    { signal, timeout = usual }: CallOptions,
  ): Promise<Page> {
    const given = this.#either(signal)
    const either = AbortSignal.any([given, AbortSignal.timeout(timeout)])
    try {
      const response = await this.#ask(endpoint, method, path, body, Math.max(usual, timeout), either)
      return { status: response.statusCode ?? 0, text: await readText(response, limit, either) }
    } catch (error) {
      given.throwIfAborted()
      if (either.aborted) throw late(path, endpoint, timeout)
      throw error instanceof NoAnswer ? unanswered(path, endpoint, error) : error
    }
  }

  async #ask(
    endpoint: string,
    method: string,
    path: string,
    body: string | undefined,
    answer: number,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    return ask({
      url: endpoint + path,
      method,
      headers: { 'user-agent': 'hyperkube', 'content-type': 'application/json' },
      body,
      agent: this.#agent,
      identity: await this.#credentials.current(),
      patience: { connect, answer },
      signal,
    })
  }

  #either(signal: AbortSignal | undefined): AbortSignal {
    return signal === undefined ? this.#signal : AbortSignal.any([this.#signal, signal])
  }

  close(): void {
    this.#agent.destroy()
  }
}

function late(path: string, endpoint: string, timeout: number): EtcdError {
  const message = `${path}: ${endpoint}: no answer within ${timeout} ms`
  return new EtcdError('ETCD_UNREACHABLE', message, { sent: true })
}
