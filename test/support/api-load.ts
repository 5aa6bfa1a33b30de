import { request } from 'node:https'
import { z } from 'zod'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import {
  type ApiResponse,
  buildConnectionOptions,
  createHttp2Transport,
  type LoadTarget,
  createHttpTransport,
  type ApiTransport,
} from './api-transports.ts'

/** Results as clients saw them. Times are in milliseconds. */
export const loadFigures = z.strictObject({
  requests: z.int(),
  /**
   * Number of requests that the load sent a second time, in total and for each error. Retries that Go's
   * clients also make internally do not count.
   */
  retried: z.int(),
  reasons: z.record(z.string(), z.int()),
  /** Last error of each request whose retry failed too. */
  failed: z.array(z.string()),
  /** Responses with status 429. Kubernetes clients retry these themselves. */
  throttled: z.int(),
  median: z.number(),
  /** Longest request including its retry, without throttled requests. */
  worst: z.number(),
  worstThrottled: z.number(),
  /** The slowest requests with the time at which they began, to find the step that slowed them down. */
  slowest: z.array(z.strictObject({ at: z.iso.datetime(), method: z.string(), ms: z.number() })),
  watchBreaks: z.int(),
  /**
   * Longest time in which the watch received nothing. The load writes all the time, so a healthy watch has
   * only short gaps.
   */
  watchGap: z.number(),
})
export type LoadFigures = z.infer<typeof loadFigures>

/** A load that sends API requests until it is stopped. */
export interface Load {
  /** Number of requests that have a response. */
  readonly requests: number
  /** Stops sending and waits for the last response. */
  stop(): Promise<LoadFigures>
}

const collection = '/api/v1/namespaces/default/configmaps'
/** Number of slow requests that the figures list. */
const slowestCount = 12

/** The load writes to many objects, because writes to one object wait for each other. */
const objectNames = Array.from({ length: 50 }, (_, index) => `load-${index}`)

/**
 * Sends requests at a constant rate, even if earlier ones fail. It uses new connections, kept connections and
 * an HTTP/2 session, as Kubernetes clients do. One of eight requests is a write, which a watch observes.
 */
export class ApiLoad implements Load {
  readonly #transports: readonly ApiTransport[]
  readonly #target: LoadTarget
  readonly #perSecond: number
  #timer: NodeJS.Timeout | undefined
  #watching: { close(): void } | undefined
  readonly #pending = new Set<Promise<void>>()
  #sent = 0
  #retried = 0
  readonly #reasons = new Map<string, number>()
  #throttled = 0
  #failed: string[] = []
  #times: number[] = []
  #throttledTimes: number[] = []
  #slowest: LoadFigures['slowest'] = []
  #watchBreaks = 0
  #watchGap = 0
  #lastEvent = 0

  constructor(target: LoadTarget, perSecond: number) {
    this.#target = target
    this.#perSecond = perSecond
    const [newConnections, keepAlive, http2] = [
      createHttpTransport(target, false),
      createHttpTransport(target, true),
      createHttp2Transport(target),
    ]
    // Only a few requests use new connections, because TLS handshakes are expensive and all lab hosts share
    // one machine.
    this.#transports = [
      http2,
      keepAlive,
      http2,
      keepAlive,
      http2,
      keepAlive,
      http2,
      keepAlive,
      newConnections,
    ]
  }

  /** Creates the objects that the load reads and writes. */
  static async prepare(api: KubeApi): Promise<void> {
    for (const name of objectNames) {
      await api.ensure(collection, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    }
  }

  start(): void {
    const started = performance.now()
    let due = 0
    this.#lastEvent = started
    this.#watch()
    this.#timer = setInterval(() => {
      const target = Math.floor(((performance.now() - started) / 1000) * this.#perSecond)
      // Skips requests that this machine was too slow to send, because a burst would not be a constant rate.
      due = Math.max(due, target - 10)
      for (; due < target; due++) this.#sendOne(due)
    }, 5)
  }

  get requests(): number {
    return this.#times.length + this.#throttledTimes.length
  }

  async stop(): Promise<LoadFigures> {
    clearInterval(this.#timer)
    this.#noteGap()
    this.#watching?.close()
    this.#watching = undefined
    await Promise.all(this.#pending)
    for (const transport of new Set(this.#transports)) transport.close()
    const sorted = this.#times.toSorted((a, b) => a - b)
    return {
      requests: this.#sent,
      retried: this.#retried,
      reasons: Object.fromEntries(this.#reasons),
      failed: this.#failed,
      throttled: this.#throttled,
      median: Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN),
      worst: Math.round(sorted.at(-1) ?? Number.NaN),
      worstThrottled: Math.round(Math.max(0, ...this.#throttledTimes)),
      slowest: this.#slowest,
      watchBreaks: this.#watchBreaks,
      watchGap: Math.round(this.#watchGap),
    }
  }

  #sendOne(number: number): void {
    const transport = this.#transports[number % this.#transports.length]
    const name = objectNames[Math.floor(number / 8) % objectNames.length]
    if (transport === undefined) return
    this.#sent++
    const pendingRequest: Promise<void> = this.#request(transport, `${collection}/${name}`, number)
      .catch((error: unknown) => void this.#failed.push(String(error)))
      .finally(() => this.#pending.delete(pendingRequest))
    this.#pending.add(pendingRequest)
  }

  async #request(transport: ApiTransport, path: string, number: number): Promise<void> {
    const write = number % 8 === 7
    const started = performance.now()
    // The value must differ each time, because a write without a change causes no event.
    const body = write ? JSON.stringify({ data: { word: `${process.pid}-${started}` } }) : undefined
    const send = async (newConnection: boolean): Promise<ApiResponse> => {
      const response = await transport.send({ method: write ? 'PATCH' : 'GET', path, body }, newConnection)
      if (response.status === 429 || response.status < 300) return response
      throw new Error(`${response.status} ${response.text.slice(0, 200)}`)
    }
    let response = await send(false).catch(async (error: unknown) => {
      this.#retried++
      this.#reasons.set(String(error), (this.#reasons.get(String(error)) ?? 0) + 1)
      return send(true)
    })
    let times = this.#times
    for (let retry = 0; response.status === 429 && retry < 10; retry++) {
      this.#throttled++
      times = this.#throttledTimes
      await new Promise((resolve) => setTimeout(resolve, response.retryAfter))
      response = await send(true).catch(async () => send(true))
    }
    if (response.status === 429) throw new Error('throttled ten times')
    const ms = performance.now() - started
    times.push(ms)
    if (times === this.#times) this.#noteSlow(ms, write ? 'PATCH' : 'GET')
  }

  /** Watches the objects. A broken watch reconnects at once and without limit, as a reflector does. */
  #watch(): void {
    const outgoing = request({
      ...buildConnectionOptions(this.#target),
      path: `${collection}?watch=1&timeoutSeconds=600`,
      agent: false,
    })
    let closed = false
    const retry = (): void => {
      if (closed || this.#watching?.close !== close) return
      closed = true
      this.#watchBreaks++
      // The pause prevents a busy loop when the server closes each watch at once.
      setTimeout(() => this.#watching?.close === close && this.#watch(), 50)
    }
    const close = (): void => {
      closed = true
      outgoing.destroy()
    }
    outgoing.on('response', (response) => {
      response.on('data', () => this.#noteGap())
      response.on('error', retry)
      response.on('close', retry)
    })
    outgoing.on('error', retry)
    outgoing.end()
    this.#watching = { close }
  }

  #noteSlow(ms: number, method: string): void {
    if (this.#slowest.length === slowestCount && ms <= (this.#slowest.at(-1)?.ms ?? 0)) return
    const slow = { at: new Date(Date.now() - ms).toISOString(), method, ms: Math.round(ms) }
    this.#slowest = [...this.#slowest, slow].toSorted((a, b) => b.ms - a.ms).slice(0, slowestCount)
  }

  #noteGap(): void {
    const now = performance.now()
    this.#watchGap = Math.max(this.#watchGap, now - this.#lastEvent)
    this.#lastEvent = now
  }
}
