import type { IncomingMessage } from 'node:http'
import type { Agent } from 'node:https'
import type { Pem } from '../kit/credentials.ts'
import type { RequestTimeouts } from '../kit/https-request.ts'
import { createHttpsAgent, type Dial } from '../kit/tunnel.ts'
import { createCredentialsSource, type CredentialsSource, type KubeCredentials } from './credentials.ts'
import { KubeError } from './kube-error.ts'
import { describeRequest, isIdempotent, type KubeRequest } from './request.ts'
import { Discovery } from './resources.ts'
import type { Backoff } from './retry-policy.ts'
import { type Attempt, retryRequest, ServerOrder } from './retry-request.ts'
import { type KubeRequestContext, openKubeStream, sendKubeRequest } from './send-request.ts'

export interface KubeClientOptions {
  /**
   * Base URLs such as https://10.0.0.1:6443. Each request starts with the server that responded last, and
   * tries the other servers in the given order.
   */
  readonly servers: readonly string[]
  /** Name that the certificates of the servers must have. Default: the host of the URL. */
  readonly serverName?: string | undefined
  readonly ca: Pem
  readonly credentials: KubeCredentials
  /** Aborts all requests and streams of the client. */
  readonly signal: AbortSignal
  /** Opens connections to servers; undefined to connect directly. */
  readonly dial?: Dial | undefined
  /** Name of the program: the field manager of its writes and its User-Agent. Default: `hyperkube`. */
  readonly program?: string | undefined
  /** User to impersonate. The user of the certificate must be allowed to do so. */
  readonly impersonate?: string | undefined
  /**
   * Function called directly before each request is sent. If the function throws, the request fails with the
   * same error.
   */
  readonly guard?: (() => void) | undefined
  readonly timing?: Partial<KubeClientTiming>
  /** Maximum size of a response and of an event of a watch, to limit memory use. Default: 256 MiB. */
  readonly maxResponseBytes?: number
  /** Source of random numbers from 0 to 1, used to vary retry delays. */
  readonly random?: () => number
}

/** Timeouts and backoff of the client, in milliseconds. */
export interface KubeClientTiming extends RequestTimeouts {
  /** Timeout for all attempts of one request together. */
  readonly timeout: number
  readonly backoff: Backoff
}

const defaultTiming: KubeClientTiming = {
  connectMs: 5000,
  responseMs: 15_000,
  timeout: 30_000,
  backoff: { initial: 200, max: 5000 },
}

/** Field manager of all fields that hyperkube sets. */
export const defaultFieldManager = 'hyperkube'

/** Client for the API of one cluster. It sends each request to an API server that responds. */
export class KubeClient implements Disposable {
  readonly servers: readonly string[]
  readonly discovery: Discovery
  /** Field manager of the fields that this client sets. */
  readonly fieldManager: string
  /** Aborted when the client must stop all requests and streams. */
  readonly signal: AbortSignal
  readonly maxResponseBytes: number
  readonly #timing: KubeClientTiming
  readonly #random: () => number
  readonly #credentials: CredentialsSource
  readonly #serverOrder: ServerOrder
  readonly #agent: Agent
  readonly #streamAgent: Agent
  readonly #impersonate: string | undefined
  readonly #guard: () => void

  constructor({
    servers,
    serverName,
    ca,
    credentials,
    signal,
    dial,
    program = defaultFieldManager,
    impersonate,
    guard = (): void => undefined,
    timing,
    maxResponseBytes = 256 * 2 ** 20,
    random = Math.random,
  }: KubeClientOptions) {
    this.servers = servers.map(stripTrailingSlash)
    this.discovery = new Discovery(async (path, options) => this.request({ method: 'GET', path, ...options }))
    this.fieldManager = program
    this.signal = signal
    this.maxResponseBytes = maxResponseBytes
    this.#timing = { ...defaultTiming, ...timing }
    this.#random = random
    this.#credentials = createCredentialsSource(ca, credentials)
    this.#serverOrder = new ServerOrder(this.servers)
    this.#impersonate = impersonate
    this.#guard = guard
    const tls = serverName === undefined ? {} : { servername: serverName }
    // Servers close connections after 90 s idle. The client closes them earlier, so it does not send requests
    // on a connection that is being closed.
    this.#agent = createHttpsAgent(dial, {
      keepAlive: true,
      maxSockets: 8,
      maxFreeSockets: 8,
      timeout: 60_000,
      ...tls,
    })
    // Streams use a separate HTTPS agent, because each stream occupies a connection until the stream ends.
    // With a shared HTTPS agent, streams could use up all connections.
    this.#streamAgent = createHttpsAgent(dial, { keepAlive: false, ...tls })
  }

  /** Returns the response body, parsed as JSON. */
  async request(request: KubeRequest): Promise<unknown> {
    const text = await this.text(request)
    try {
      return JSON.parse(text)
    } catch (cause) {
      throw new KubeError('KUBE_INVALID_RESPONSE', `${describeRequest(request)}: the response is not JSON`, {
        cause,
      })
    }
  }

  /** Returns the response body as text. */
  async text(request: KubeRequest): Promise<string> {
    const context = this.#requestContext(this.#agent)
    return this.#retry(request, async (server, either) => sendKubeRequest(context, request, server, either))
  }

  /**
   * Returns the response as soon as it begins. The timeout covers only the time until the response begins.
   * The caller must read or destroy the response.
   */
  async stream(request: KubeRequest): Promise<IncomingMessage> {
    const [context, streamSignal] = [this.#requestContext(this.#streamAgent), this.#combineSignals(request)]
    return this.#retry(request, async (server, startSignal) =>
      openKubeStream(context, request, server, { startSignal, streamSignal }),
    )
  }

  #requestContext(agent: Agent): KubeRequestContext {
    return {
      agent,
      credentials: this.#credentials,
      timeouts: this.#timing,
      userAgent: this.fieldManager,
      impersonate: this.#impersonate,
      guard: this.#guard,
      maxResponseBytes: this.maxResponseBytes,
    }
  }

  #combineSignals({ signal }: KubeRequest): AbortSignal {
    return signal === undefined ? this.signal : AbortSignal.any([this.signal, signal])
  }

  async #retry<T>(request: KubeRequest, attemptOnServer: Attempt<T>): Promise<T> {
    const { timeout = this.#timing.timeout, server: only, once = false } = request
    return retryRequest(only === undefined ? this.#serverOrder : new ServerOrder([only]), attemptOnServer, {
      what: describeRequest(request),
      idempotent: isIdempotent(request),
      once,
      timeout,
      backoff: this.#timing.backoff,
      signal: this.#combineSignals(request),
      random: this.#random,
    })
  }

  /** Closes all connections. */
  close(): void {
    this.#agent.destroy()
    this.#streamAgent.destroy()
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

/** Removes trailing slashes from a base URL, because paths begin with a slash. */
function stripTrailingSlash(url: string): string {
  return url.replace(/\/+$/, '')
}
