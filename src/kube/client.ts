import type { IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import { attempt, attemptStream, type Line } from './send-request.ts'
import { type Credentials, LiveCredentials, type Pem } from '../kit/credentials.ts'
import { Discovery } from './discovery.ts'
import type { Patience } from '../kit/https-request.ts'
import { KubeError } from './kube-error.ts'
import { type Attempt, persist } from './retry-request.ts'
import { described, isIdempotent, type KubeRequest } from './request.ts'
import type { Backoff } from './retry-policy.ts'
import { Rota } from './server-order.ts'
import { agentOver, type Dial } from '../kit/tunnel-agent.ts'

export interface KubeClientOptions {
  /** https://10.0.0.1:6443: asked in this order, beginning with the one that answered last. */
  readonly servers: readonly string[]
  readonly authority: Pem
  readonly credentials: Omit<Credentials, 'authority'>
  /** Ends all that the client does. */
  readonly signal: AbortSignal
  /** How servers are reached, where not directly. */
  readonly dial?: Dial | undefined
  /** As whom to act, where not as whom the certificate names: that one must be allowed to. */
  readonly as?: string | undefined
  /** Asked right before anything is sent; what it throws is what comes of the request. */
  readonly guard?: (() => void) | undefined
  readonly timing?: Partial<Timing>
  /** From 0 to 1. */
  readonly random?: () => number
}

/** In milliseconds. */
export interface Timing extends Patience {
  /** For all attempts at one request together. */
  readonly timeout: number
  readonly backoff: Backoff
}

const usual: Timing = {
  connect: 5000,
  answer: 15_000,
  timeout: 30_000,
  backoff: { first: 200, most: 5000 },
}

/** Speaks with the API of one cluster, at whichever of its servers answers. */
export class KubeClient implements Disposable {
  readonly servers: readonly string[]
  readonly discovery: Discovery
  /** Ends all that the client does. */
  readonly signal: AbortSignal
  readonly #timing: Timing
  readonly #random: () => number
  readonly #credentials: LiveCredentials
  readonly #rota: Rota
  readonly #agent: Agent
  readonly #streams: Agent
  readonly #as: string | undefined
  readonly #guard: () => void

  constructor({
    servers,
    authority,
    credentials,
    signal,
    dial,
    as,
    guard = (): void => undefined,
    timing,
    random = Math.random,
  }: KubeClientOptions) {
    this.servers = servers.map(withoutSlash)
    this.discovery = new Discovery(async (path, options) => this.request({ method: 'GET', path, ...options }))
    this.signal = signal
    this.#timing = { ...usual, ...timing }
    this.#random = random
    this.#credentials = new LiveCredentials({ authority, ...credentials })
    this.#rota = new Rota(this.servers)
    this.#as = as
    this.#guard = guard
    // Servers let go of a connection that was idle for 90 s; we do so before them, or a request would meet its end.
    this.#agent = agentOver(dial, { keepAlive: true, maxSockets: 8, maxFreeSockets: 8, timeout: 60_000 })
    // Each has a connection as long as it lasts: among the others, they would leave none for requests.
    this.#streams = agentOver(dial, { keepAlive: false })
  }

  /** The answer, as JSON says it. */
  async request(request: KubeRequest): Promise<unknown> {
    const text = await this.text(request)
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new KubeError('KUBE_ANSWER', `${described(request)}: the answer is not JSON`, { cause })
    }
  }

  /** The answer as it is. */
  async text(request: KubeRequest): Promise<string> {
    const line = this.#line(this.#agent)
    return this.#persist(request, async (server, either) => attempt(line, request, server, either))
  }

  /** The answer as soon as it begins; the time limit is for that. It must be read, or destroyed. */
  async stream(request: KubeRequest): Promise<IncomingMessage> {
    const [line, whole] = [this.#line(this.#streams), this.#signalOf(request)]
    return this.#persist(request, async (server, beginning) =>
      attemptStream(line, request, server, { beginning, whole }),
    )
  }

  #line(agent: Agent): Line {
    return {
      agent,
      credentials: this.#credentials,
      patience: this.#timing,
      as: this.#as,
      guard: this.#guard,
    }
  }

  #signalOf({ signal }: KubeRequest): AbortSignal {
    return signal === undefined ? this.signal : AbortSignal.any([this.signal, signal])
  }

  async #persist<T>(request: KubeRequest, attempts: Attempt<T>): Promise<T> {
    const { timeout = this.#timing.timeout, server: only, once = false } = request
    return persist(only === undefined ? this.#rota : new Rota([only]), attempts, {
      what: described(request),
      idempotent: isIdempotent(request),
      once,
      timeout,
      backoff: this.#timing.backoff,
      signal: this.#signalOf(request),
      random: this.#random,
    })
  }

  /** Lets go of its connections. */
  close(): void {
    this.#agent.destroy()
    this.#streams.destroy()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Paths begin with one. */
function withoutSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
