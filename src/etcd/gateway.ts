import type { Agent } from 'node:https'
import type { z } from 'zod'
import { type Credentials, LiveCredentials } from '../kit/credentials.ts'
import { EtcdError, jsonOf, refused, unanswered } from './etcd-error.ts'
import { ask, NoAnswer, type Patience, readText } from '../kit/exchange.ts'
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
const patience: Patience = { connect: 3000, answer: usual }
const limit = 4 * 2 ** 20

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

  async #send(
    endpoint: string,
    method: string,
    path: string,
    body: string | undefined,
    { signal, timeout = usual }: CallOptions,
  ): Promise<Page> {
    const given = signal === undefined ? this.#signal : AbortSignal.any([this.#signal, signal])
    const either = AbortSignal.any([given, AbortSignal.timeout(timeout)])
    try {
      const response = await ask({
        url: endpoint + path,
        method,
        headers: { 'user-agent': 'hyperkube', 'content-type': 'application/json' },
        body,
        agent: this.#agent,
        identity: await this.#credentials.current(),
        patience,
        signal: either,
      })
      return { status: response.statusCode ?? 0, text: await readText(response, limit, either) }
    } catch (error) {
      given.throwIfAborted()
      if (either.aborted) throw late(path, endpoint, timeout)
      throw error instanceof NoAnswer ? unanswered(path, endpoint, error) : error
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}

function late(path: string, endpoint: string, timeout: number): EtcdError {
  const message = `${path}: ${endpoint}: no answer within ${timeout} ms`
  return new EtcdError('ETCD_UNREACHABLE', message, { sent: true })
}
