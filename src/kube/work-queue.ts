import { setImmediate as nextTurn } from 'node:timers/promises'
import { Heap } from '../kit/heap.ts'
import { Line } from '../kit/fifo.ts'
import { realTime, type Time } from '../kit/monotonic-clock.ts'
import { KubeError } from './kube-error.ts'
import type { QueueLoad, QueueMeter, QueueMetrics } from './queue-metrics.ts'
import { type Backoff, pauseAfter } from './retry-policy.ts'

export interface QueueOptions {
  readonly time?: Time
  readonly backoff?: Backoff
  /** From 0 to 1. */
  readonly random?: () => number
  readonly metrics?: QueueMetrics
}

/** What is to follow: nothing before something happens, or another look after so many milliseconds. */
export type Outcome = undefined | { readonly requeueAfter: number }

export interface Work {
  readonly workers?: number
  /** All that is said of a key up to now is known when it begins. What it throws is tried again, later and later. */
  readonly handle: (key: string) => Promise<Outcome>
  readonly onFailure?: (key: string, error: unknown, failures: number) => void
}

/** Whatever is wrong, five minutes after it was mended at the latest it is noticed. */
const usual: Backoff = { first: 5, most: 300_000 }

interface Alarm {
  readonly at: number
  readonly key: string
}

function inOrder(): Heap<Alarm> {
  return new Heap<Alarm>((a, b) => a.at < b.at)
}

/**
 * Keys of objects that somebody has to look at. One that is added again before somebody has begun is one; one that is
 * added while somebody works on it is looked at once more; and no two ever work on the same.
 */
export class WorkQueue {
  readonly name: string
  readonly #time: Time
  readonly #backoff: Backoff
  readonly #random: () => number
  readonly #meter: QueueMeter | undefined
  /** To be looked at, since when: those in the line, and those that are being worked on and have been added again. */
  readonly #wanted = new Map<string, number>()
  readonly #line = new Line<string>()
  readonly #working = new Map<string, number>()
  /** To be added at that time. */
  readonly #later = new Map<string, number>()
  #alarms = inOrder()
  #callOff: (() => void) | undefined
  /** In a row. */
  readonly #failures = new Map<string, number>()
  readonly #idle: (() => void)[] = []

  constructor(name: string, options: QueueOptions = {}) {
    this.name = name
    this.#time = options.time ?? realTime
    this.#backoff = options.backoff ?? usual
    this.#random = options.random ?? Math.random
    this.#meter = options.metrics?.meter(name, () => this.#load())
  }

  add(key: string): void {
    // Who looks now says anew when to look again.
    this.#later.delete(key)
    if (this.#wanted.has(key)) return
    this.#wanted.set(key, this.#time.now())
    this.#meter?.added()
    if (!this.#working.has(key)) this.#enter(key)
  }

  /** Of several times for a key, the first one counts. */
  addAfter(key: string, milliseconds: number): void {
    if (milliseconds <= 0) return this.add(key)
    if (this.#wanted.has(key)) return
    const at = this.#time.now() + milliseconds
    if ((this.#later.get(key) ?? Infinity) <= at) return
    this.#tidy()
    this.#later.set(key, at)
    const alarm = { at, key }
    this.#alarms.put(alarm)
    if (this.#alarms.first === alarm) this.#setAlarm()
  }

  /** Works until the signal, and to the end of what was begun. */
  async run({ workers = 1, handle, onFailure }: Work, signal: AbortSignal): Promise<void> {
    const wakeAll = (): void => this.#idle.splice(0).forEach((wake) => wake())
    signal.addEventListener('abort', wakeAll, { once: true })
    const work = async (): Promise<void> => {
      for (;;) {
        const key = await this.#take(signal)
        if (key === undefined) return
        await this.#handle(key, { handle, ...(onFailure === undefined ? {} : { onFailure }) }, signal)
        // However long the line is, others have a turn between two keys: above all who renews a lease.
        await nextTurn()
      }
    }
    try {
      await Promise.all(Array.from({ length: workers }, work))
    } finally {
      signal.removeEventListener('abort', wakeAll)
      this.#callOff?.()
    }
  }

  async #take(signal: AbortSignal): Promise<string | undefined> {
    while (!signal.aborted) {
      const key = this.#line.shift()
      if (key !== undefined) return key
      await new Promise<void>((resolve) => this.#idle.push(resolve))
    }
    return undefined
  }

  async #handle(key: string, { handle, onFailure }: Work, signal: AbortSignal): Promise<void> {
    const began = this.#time.now()
    this.#meter?.started(began - (this.#wanted.get(key) ?? began))
    this.#wanted.delete(key)
    this.#working.set(key, began)
    try {
      const outcome = await handle(key)
      this.#failures.delete(key)
      if (outcome !== undefined) this.addAfter(key, outcome.requeueAfter)
    } catch (error) {
      const failures = this.#retry(key, error)
      if (!signal.aborted) onFailure?.(key, error, failures)
    } finally {
      this.#working.delete(key)
      this.#meter?.ended(this.#time.now() - began)
      if (this.#wanted.has(key)) this.#enter(key)
    }
  }

  /** How often it has failed in a row. */
  #retry(key: string, error: unknown): number {
    const before = this.#failures.get(key) ?? 0
    this.#failures.set(key, before + 1)
    this.#meter?.retried()
    const asked = error instanceof KubeError ? (error.retryAfter ?? 0) : 0
    this.addAfter(key, asked + pauseAfter(before, this.#backoff, this.#random()))
    return before + 1
  }

  #enter(key: string): void {
    this.#line.push(key)
    this.#idle.pop()?.()
  }

  #ring(): void {
    const now = this.#time.now()
    while ((this.#alarms.first?.at ?? Infinity) <= now) {
      const alarm = this.#alarms.take()
      if (alarm !== undefined && this.#later.get(alarm.key) === alarm.at) this.add(alarm.key)
    }
    this.#setAlarm()
  }

  #setAlarm(): void {
    this.#callOff?.()
    const { first } = this.#alarms
    this.#callOff = first && this.#time.after(Math.max(0, first.at - this.#time.now()), () => this.#ring())
  }

  /** Those that were called off stay until they would ring; where they are too many, the others move. */
  #tidy(): void {
    if (this.#alarms.size < 1000 + 2 * this.#later.size) return
    this.#alarms = inOrder()
    for (const [key, at] of this.#later) this.#alarms.put({ at, key })
  }

  #load(): QueueLoad {
    const now = this.#time.now()
    return { depth: this.#line.length, running: [...this.#working.values()].map((began) => now - began) }
  }
}
