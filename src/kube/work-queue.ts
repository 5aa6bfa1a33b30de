import { setImmediate as nextTurn } from 'node:timers/promises'
import { Heap } from '../kit/heap.ts'
import { FifoQueue } from '../kit/fifo.ts'
import { monotonicClock, type MonotonicClock } from '../kit/monotonic-clock.ts'
import { KubeError } from './kube-error.ts'
import type { QueueLoad, QueueMeter, QueueMetrics } from './queue-metrics.ts'
import { type Backoff, backoffDelay } from './retry-policy.ts'

export interface QueueOptions {
  readonly time?: MonotonicClock
  readonly backoff?: Backoff
  /** Returns a number from 0 to 1. */
  readonly random?: () => number
  readonly metrics?: QueueMetrics
}

/** Undefined to wait for the next event, or milliseconds until the key is processed again. */
export type WorkResult = undefined | { readonly requeueAfter: number }

export interface QueueWorkerOptions {
  readonly workers?: number
  /** Handles a key with all changes known so far. Errors are retried with backoff. */
  readonly handle: (key: string) => Promise<WorkResult>
  readonly onFailure?: (key: string, error: unknown, failures: number) => void
}

/** A fixed problem is noticed after five minutes at the latest. */
const defaultBackoff: Backoff = { initial: 5, max: 300_000 }

interface DelayedKey {
  readonly at: number
  readonly key: string
}

function createDelayHeap(): Heap<DelayedKey> {
  return new Heap<DelayedKey>((a, b) => a.at < b.at)
}

/**
 * Deduplicating queue of object keys. A key that is added several times before processing is processed once.
 * A key that is added during processing is processed once more. A key is never processed by two workers at
 * once.
 */
export class WorkQueue {
  readonly name: string
  readonly #time: MonotonicClock
  readonly #backoff: Backoff
  readonly #random: () => number
  readonly #meter: QueueMeter | undefined
  /** Keys to process and when they were added: queued keys, and keys in progress that were added again. */
  readonly #dirty = new Map<string, number>()
  readonly #queue = new FifoQueue<string>()
  readonly #processing = new Map<string, number>()
  /** Keys to add at a later time. */
  readonly #delayed = new Map<string, number>()
  #timers = createDelayHeap()
  #cancelTimer: (() => void) | undefined
  /** In a row. */
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
    // The coming run of the handler decides again when to requeue.
    this.#delayed.delete(key)
    if (this.#dirty.has(key)) return
    this.#dirty.set(key, this.#time.now())
    this.#meter?.added()
    if (!this.#processing.has(key)) this.#enqueue(key)
  }

  /** The earliest of several times for a key counts. */
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

  /** Processes keys until the signal is aborted, and then finishes what was begun. */
  async run({ workers = 1, handle, onFailure }: QueueWorkerOptions, signal: AbortSignal): Promise<void> {
    const wakeAll = (): void => this.#idleWorkers.splice(0).forEach((wake) => wake())
    signal.addEventListener('abort', wakeAll, { once: true })
    const work = async (): Promise<void> => {
      for (;;) {
        const key = await this.#next(signal)
        if (key === undefined) return
        await this.#handle(key, { handle, ...(onFailure === undefined ? {} : { onFailure }) }, signal)
        // Yield between two keys, however long the queue is: lease renewal must not wait.
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

  /** Returns the number of failures in a row. */
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

  /** Cancelled timers stay in the heap until they expire. If there are too many, rebuild the heap. */
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
