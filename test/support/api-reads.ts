import { Agent } from 'node:https'
import { type Credentials, sendHttps } from '../../lab/cluster/kube-api.ts'

export interface ReadFigures {
  readonly requests: number
  /** Requests that no API server answered. */
  readonly failed: number
  /** Longest time without a successful request. */
  readonly longestGapMs: number
}

const path = '/api/v1/namespaces/default'
const timeoutMs = 2000

/**
 * Reads an object at a constant rate, even if earlier requests fail. Each request begins with another API server
 * and tries all of them once.
 */
export class ApiReads {
  readonly #agent: Agent
  readonly #origins: readonly string[]
  readonly #timer: NodeJS.Timeout
  readonly #pending = new Set<Promise<void>>()
  #requests = 0
  #failed = 0
  #longestGapMs = 0
  #lastSuccess = performance.now()

  constructor(addresses: readonly string[], { ca, certificate, key }: Credentials, perSecond: number) {
    this.#agent = new Agent({ ca, cert: certificate, key, keepAlive: true })
    this.#origins = addresses.map((address) => `https://${address}:6443`)
    this.#timer = setInterval(() => this.#begin(), 1000 / perSecond)
  }

  async stop(): Promise<ReadFigures> {
    clearInterval(this.#timer)
    await Promise.all(this.#pending)
    this.#agent.destroy()
    return { requests: this.#requests, failed: this.#failed, longestGapMs: Math.round(this.#longestGapMs) }
  }

  #begin(): void {
    const first = this.#requests++ % this.#origins.length
    const order = [...this.#origins.slice(first), ...this.#origins.slice(0, first)]
    const pendingRequest: Promise<void> = this.#read(order)
      .then(
        () => this.#noteSuccess(),
        () => void this.#failed++,
      )
      .finally(() => this.#pending.delete(pendingRequest))
    this.#pending.add(pendingRequest)
  }

  #noteSuccess(): void {
    const now = performance.now()
    this.#longestGapMs = Math.max(this.#longestGapMs, now - this.#lastSuccess)
    this.#lastSuccess = now
  }

  async #read([origin = '', ...others]: readonly string[]): Promise<void> {
    try {
      const options = { method: 'GET', headers: {}, agent: this.#agent, timeout: timeoutMs }
      const { status, text } = await sendHttps(origin, path, options)
      if (status !== 200) throw new Error(`${status} ${text.slice(0, 200)}`)
    } catch (error) {
      if (others.length === 0) throw error
      await this.#read(others)
    }
  }
}
