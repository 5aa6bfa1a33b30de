import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { Agent, request } from 'node:https'
import type { Credentials } from '../../lab/cluster/kube-api.ts'

export interface LoadTarget {
  readonly host: string
  readonly port: number
  readonly credentials: Credentials
}

/** What clients have seen. Times are in milliseconds. */
export interface LoadFigures {
  readonly requests: number
  /** Those that were sent once more, and how often for which reason. */
  readonly retried: number
  readonly reasons: Readonly<Record<string, number>>
  /** Those that did not succeed then, either, each with its last words. */
  readonly failed: readonly string[]
  /** Answers that said: not now, come again. A client of Kubernetes does so by itself. */
  readonly throttled: number
  readonly median: number
  /** The longest that a request took with its retry, among those that were not told to wait. */
  readonly worst: number
  readonly worstThrottled: number
  readonly watchBreaks: number
  /** The longest time without an event, while there was one to be seen every moment. */
  readonly watchGap: number
}

interface Answer {
  readonly status: number
  readonly retryAfter: number
  readonly text: string
}

interface Message {
  readonly method: string
  readonly path: string
  readonly body: string | undefined
}

/** One way of speaking with an API server. With `anew`, over a connection that nothing has happened to yet. */
interface Way {
  send(message: Message, anew: boolean): Promise<Answer>
  close(): void
}

const collection = '/api/v1/namespaces/default/configmaps'
const patch = 'application/merge-patch+json'
/** Longer than any stall that we would accept. */
const patience = 8000

/**
 * Requests at a steady pace whatever becomes of those before: over new connections, over kept ones, and over one of
 * HTTP/2 as Kubernetes' own clients have it; seven reads to a write, and a watch that sees the writes.
 */
export class ApiLoad {
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

  /** Many: what is written to one object waits for its turn, and that would be another test. */
  static readonly names = Array.from({ length: 50 }, (_, index) => `load-${index}`)

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

  /** Waits for the last answer. */
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
    const name = ApiLoad.names[Math.floor(number / 8) % ApiLoad.names.length]
    if (way === undefined) return
    this.#sent++
    const done: Promise<void> = this.#request(way, `${collection}/${name}`, number)
      .catch((error: unknown) => void this.#failed.push(String(error)))
      .finally(() => this.#pending.delete(done))
    this.#pending.add(done)
  }

  async #request(way: Way, path: string, number: number): Promise<void> {
    const write = number % 8 === 7
    const body = write ? JSON.stringify({ data: { number: String(number) } }) : undefined
    const started = performance.now()
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

function connectionOf({ host, port, credentials: { authority, certificate, key } }: LoadTarget) {
  return { host, port, servername: 'kubernetes', ca: authority, cert: certificate, key }
}

function plainWay(target: LoadTarget, keepAlive: boolean): Way {
  const agent = new Agent({ keepAlive, ...(keepAlive ? { maxSockets: 20 } : {}) })
  return {
    send: async ({ method, path, body }, anew) =>
      new Promise((resolve, reject) => {
        const options = { method, path, headers: { 'content-type': patch }, timeout: patience }
        const outgoing = request({ ...connectionOf(target), ...options, agent: anew ? false : agent })
        outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer in ${patience} ms`)))
        outgoing.on('error', reject)
        outgoing.on('response', (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              retryAfter: Number(response.headers['retry-after'] ?? 1) * 1000,
              text: Buffer.concat(chunks).toString('utf8'),
            }),
          )
        })
        outgoing.end(body)
      }),
    close: () => agent.destroy(),
  }
}

/** One session for all, and a new one when the server says goodbye or a request has failed. */
function http2Way(target: LoadTarget): Way {
  let session: ClientHttp2Session | undefined
  const forget = (one: ClientHttp2Session): void => {
    if (session === one) session = undefined
    // Those that are under way on it may still end.
    one.close()
  }
  const open = (): ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session
    const fresh = connectHttp2(`https://${target.host}:${target.port}`, connectionOf(target))
    fresh.on('goaway', () => forget(fresh))
    fresh.on('error', () => forget(fresh))
    session = fresh
    return fresh
  }
  return {
    send: async ({ method, path, body }) =>
      new Promise((resolve, reject) => {
        const used = open()
        const stream = used.request({ ':method': method, ':path': path, 'content-type': patch })
        let [status, retryAfter, text] = [0, 1000, '']
        const fail = (error: Error): void => {
          forget(used)
          reject(error)
        }
        stream.setEncoding('utf8')
        stream.setTimeout(patience, () => stream.destroy(new Error(`no answer in ${patience} ms`)))
        stream.on('response', (headers) => {
          status = headers[':status'] ?? 0
          retryAfter = Number(headers['retry-after'] ?? 1) * 1000
        })
        stream.on('data', (chunk: string) => (text += chunk))
        stream.on('error', fail)
        stream.on('close', () => {
          if (status === 0) fail(new Error('the session ended'))
          else resolve({ status, retryAfter, text })
        })
        stream.end(body)
      }),
    close: () => session?.close(),
  }
}
