import { request } from 'node:https'
import { z } from 'zod'
import type { KubeApi } from '../../lab/cluster/kube-api.ts'
import { type Answer, connectionOf, http2Way, type LoadTarget, plainWay, type Way } from './api-transports.ts'

/** What clients have seen. Times are in milliseconds. */
export const loadFigures = z.strictObject({
  requests: z.int(),
  /** Those that were sent once more, and how often for which reason; not what Go's clients send again by themselves. */
  retried: z.int(),
  reasons: z.record(z.string(), z.int()),
  /** Those that did not succeed then, either, each with its last words. */
  failed: z.array(z.string()),
  /** Answers that said: not now, come again. A client of Kubernetes does so by itself. */
  throttled: z.int(),
  median: z.number(),
  /** The longest that a request took with its retry, among those that were not told to wait. */
  worst: z.number(),
  worstThrottled: z.number(),
  watchBreaks: z.int(),
  /** The longest time without an event, while there was one to be seen every moment. */
  watchGap: z.number(),
})
export type LoadFigures = z.infer<typeof loadFigures>

/** Requests that are under way. */
export interface Load {
  /** Those that have their answer. */
  readonly requests: number
  /** Waits for the last answer. */
  stop(): Promise<LoadFigures>
}

const collection = '/api/v1/namespaces/default/configmaps'
/** Many: what is written to one object waits for its turn, and that would be another test. */
const names = Array.from({ length: 50 }, (_, index) => `load-${index}`)

/**
 * Requests at a steady pace whatever becomes of those before: over new connections, over kept ones, and over one of
 * HTTP/2 as Kubernetes' own clients have it; seven reads to a write, and a watch that sees the writes.
 */
export class ApiLoad implements Load {
  readonly #ways: readonly Way[]
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
  #watchBreaks = 0
  #watchGap = 0
  #lastEvent = 0

  constructor(target: LoadTarget, perSecond: number) {
    this.#target = target
    this.#perSecond = perSecond
    const [fresh, kept, multiplexed] = [plainWay(target, false), plainWay(target, true), http2Way(target)]
    // Few over new connections: handshakes are dear, and all hosts share this machine.
    this.#ways = [multiplexed, kept, multiplexed, kept, multiplexed, kept, multiplexed, kept, fresh]
  }

  /** Makes the objects that are read and written. */
  static async prepare(api: KubeApi): Promise<void> {
    for (const name of names) {
      await api.ensure(collection, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    }
  }

  start(): void {
    const started = performance.now()
    let due = 0
    this.#lastEvent = started
    this.#watch()
    this.#timer = setInterval(() => {
      const owed = Math.floor(((performance.now() - started) / 1000) * this.#perSecond)
      // What this machine itself has missed is not made up for: a burst would be another test.
      due = Math.max(due, owed - 10)
      for (; due < owed; due++) this.#one(due)
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
    for (const way of new Set(this.#ways)) way.close()
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
      watchBreaks: this.#watchBreaks,
      watchGap: Math.round(this.#watchGap),
    }
  }

  #one(number: number): void {
    const way = this.#ways[number % this.#ways.length]
    const name = names[Math.floor(number / 8) % names.length]
    if (way === undefined) return
    this.#sent++
    const done: Promise<void> = this.#request(way, `${collection}/${name}`, number)
      .catch((error: unknown) => void this.#failed.push(String(error)))
      .finally(() => this.#pending.delete(done))
    this.#pending.add(done)
  }

  async #request(way: Way, path: string, number: number): Promise<void> {
    const write = number % 8 === 7
    const started = performance.now()
    // Never the same twice: who writes what is there already causes no event.
    const body = write ? JSON.stringify({ data: { word: `${process.pid}-${started}` } }) : undefined
    const send = async (anew: boolean): Promise<Answer> => {
      const answer = await way.send({ method: write ? 'PATCH' : 'GET', path, body }, anew)
      if (answer.status === 429 || answer.status < 300) return answer
      throw new Error(`${answer.status} ${answer.text.slice(0, 200)}`)
    }
    let answer = await send(false).catch(async (error: unknown) => {
      this.#retried++
      this.#reasons.set(String(error), (this.#reasons.get(String(error)) ?? 0) + 1)
      return send(true)
    })
    let times = this.#times
    for (let again = 0; answer.status === 429 && again < 10; again++) {
      this.#throttled++
      times = this.#throttledTimes
      await new Promise((resolve) => setTimeout(resolve, answer.retryAfter))
      answer = await send(true).catch(async () => send(true))
    }
    if (answer.status === 429) throw new Error('told to wait ten times')
    times.push(performance.now() - started)
  }

  /** As a reflector does: from where it was, at once, as often as it takes. */
  #watch(): void {
    const outgoing = request({
      ...connectionOf(this.#target),
      path: `${collection}?watch=1&timeoutSeconds=600`,
      agent: false,
    })
    let over = false
    const again = (): void => {
      if (over || this.#watching?.close !== close) return
      over = true
      this.#watchBreaks++
      // Not in a circle: some answers come at once.
      setTimeout(() => this.#watching?.close === close && this.#watch(), 50)
    }
    const close = (): void => {
      over = true
      outgoing.destroy()
    }
    outgoing.on('response', (response) => {
      response.on('data', () => this.#noteGap())
      response.on('error', again)
      response.on('close', again)
    })
    outgoing.on('error', again)
    outgoing.end()
    this.#watching = { close }
  }

  #noteGap(): void {
    const now = performance.now()
    this.#watchGap = Math.max(this.#watchGap, now - this.#lastEvent)
    this.#lastEvent = now
  }
}
