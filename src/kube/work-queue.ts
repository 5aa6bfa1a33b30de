import { setImmediate as nextTurn } from 'node:timers/promises'
import { FifoQueue, Heap } from '../kit/collections.ts'
import { monotonicClock, type MonotonicClock } from '../kit/monotonic-clock.ts'
import { KubeError } from './kube-error.ts'
import type { QueueLoad, QueueMeter, QueueMetrics } from './queue-metrics.ts'
import { type Backoff, backoffDelay } from './retry-policy.ts'

export interface QueueOptions {
  readonly time?: MonotonicClock
  readonly backoff?: Backoff
  /** Source of random numbers from 0 to 1, used to vary retry delays. */
  readonly random?: () => number
  readonly metrics?: QueueMetrics
}

/**
 * Result of processing a key. `requeueAfter` is the delay in milliseconds until the key is processed again.
 * With undefined, the key waits for the next event.
 */
export type WorkResult = undefined | { readonly requeueAfter: number }

export interface QueueWorkerOptions {
  readonly workers?: number
  /** Processes a key. If the function throws, the key is retried with backoff. */
  readonly handle: (key: string) => Promise<WorkResult>
  readonly onFailure?: (key: string, error: unknown, failures: number) => void
}

/**
 * The maximum of five minutes is also the longest time until a retry after the cause of a failure was fixed.
 */
const defaultBackoff: Backoff = { initial: 5, max: 300_000 }

interface DelayedKey {
  readonly at: number
  readonly key: string
}

function createDelayHeap(): Heap<DelayedKey> {
  return new Heap<DelayedKey>((a, b) => a.at < b.at)
}

/**
 * Deduplicating queue of object keys. A key added several times before processing is processed once. A key
 * added during processing is processed once more. Two workers never process the same key at the same time.
 */
export class WorkQueue {
  readonly name: string
  readonly #time: MonotonicClock
  readonly #backoff: Backoff
  readonly #random: () => number
  readonly #meter: QueueMeter | undefined
  /**
   * Keys to process, with the time of their addition: queued keys, and keys in progress that were added
   * again.
   */
  readonly #dirty = new Map<string, number>()
  readonly #queue = new FifoQueue<string>()
  readonly #processing = new Map<string, number>()
  /** Keys to add later, with the time at which each key is due. */
  readonly #delayed = new Map<string, number>()
  #timers = createDelayHeap()
  #cancelTimer: (() => void) | undefined
  /** Number of consecutive failures, by key. */
  readonly #failures = new Map<string, number>()
  readonly #idleWorkers: (() => void)[] = []

  constructor(name: string, options: QueueOptions = {}) {
    this.name = name
    this.#time = options.time ?? monotonicClock
    this.#backoff = options.backoff ?? defaultBackoff
    this.#random = options.random ?? Math.random
    this.#meter = options.metrics?.meter(name, () => this.#load())
  }

  add(key: string): void {
    // A delayed addition is not needed any more: the handler runs now and decides again when to requeue.
    this.#delayed.delete(key)
    if (this.#dirty.has(key)) return
    this.#dirty.set(key, this.#time.now())
    this.#meter?.added()
    if (!this.#processing.has(key)) this.#enqueue(key)
  }

  /** Adds a key after a delay. If a key is added several times, the earliest time counts. */
  addAfter(key: string, milliseconds: number): void {
    if (milliseconds <= 0) return this.add(key)
    if (this.#dirty.has(key)) return
    const at = this.#time.now() + milliseconds
    if ((this.#delayed.get(key) ?? Infinity) <= at) return
    this.#compactTimers()
    this.#delayed.set(key, at)
    const delayed = { at, key }
    this.#timers.push(delayed)
    if (this.#timers.first === delayed) this.#startTimer()
  }

  /** Processes keys until the signal is aborted, and then finishes the keys in progress. */
  async run({ workers = 1, handle, onFailure }: QueueWorkerOptions, signal: AbortSignal): Promise<void> {
    const wakeAll = (): void => this.#idleWorkers.splice(0).forEach((wake) => wake())
    signal.addEventListener('abort', wakeAll, { once: true })
    const work = async (): Promise<void> => {
      for (;;) {
        const key = await this.#next(signal)
        if (key === undefined) return
        await this.#handle(key, { handle, ...(onFailure === undefined ? {} : { onFailure }) }, signal)
        // Yields to the event loop after each key, so a long queue does not delay lease renewal.
        await nextTurn()
      }
    }
    try {
      await Promise.all(Array.from({ length: workers }, work))
    } finally {
      signal.removeEventListener('abort', wakeAll)
      this.#cancelTimer?.()
    }
  }

  async #next(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      const key = this.#queue.shift()
      if (key !== undefined) return key
      await new Promise<void>((resolve) => this.#idleWorkers.push(resolve))
    }
    return undefined
  }

  async #handle(key: string, { handle, onFailure }: QueueWorkerOptions, signal: AbortSignal): Promise<void> {
    const began = this.#time.now()
    this.#meter?.started(began - (this.#dirty.get(key) ?? began))
    this.#dirty.delete(key)
    this.#processing.set(key, began)
    try {
      const result = await handle(key)
      this.#failures.delete(key)
      if (result !== undefined) this.addAfter(key, result.requeueAfter)
    } catch (error) {
      const failures = this.#retry(key, error)
      if (!signal.aborted) onFailure?.(key, error, failures)
    } finally {
      this.#processing.delete(key)
      this.#meter?.ended(this.#time.now() - began)
      if (this.#dirty.has(key)) this.#enqueue(key)
    }
  }

  /** Schedules a retry of the key. Returns its number of consecutive failures. */
  #retry(key: string, error: unknown): number {
    const before = this.#failures.get(key) ?? 0
    this.#failures.set(key, before + 1)
    this.#meter?.retried()
    const retryAfterMs = error instanceof KubeError ? (error.retryAfter ?? 0) : 0
    this.addAfter(key, retryAfterMs + backoffDelay(before, this.#backoff, this.#random()))
    return before + 1
  }

  #enqueue(key: string): void {
    this.#queue.push(key)
    this.#idleWorkers.pop()?.()
  }

  #fireTimers(): void {
    const now = this.#time.now()
    while ((this.#timers.first?.at ?? Infinity) <= now) {
      const delayed = this.#timers.pop()
      if (delayed !== undefined && this.#delayed.get(delayed.key) === delayed.at) this.add(delayed.key)
    }
    this.#startTimer()
  }

  #startTimer(): void {
    this.#cancelTimer?.()
    const { first } = this.#timers
    this.#cancelTimer =
      first && this.#time.after(Math.max(0, first.at - this.#time.now()), () => this.#fireTimers())
  }

  /** Rebuilds the heap if it contains too many cancelled timers, which otherwise stay until they expire. */
  #compactTimers(): void {
    if (this.#timers.size < 1000 + 2 * this.#delayed.size) return
    this.#timers = createDelayHeap()
    for (const [key, at] of this.#delayed) this.#timers.push({ at, key })
  }

  #load(): QueueLoad {
    const now = this.#time.now()
    return { depth: this.#queue.length, running: [...this.#processing.values()].map((began) => now - began) }
  }
}
