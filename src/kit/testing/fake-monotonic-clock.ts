import { setImmediate as nextTurn } from 'node:timers/promises'
import { Heap } from '../collections.ts'
import type { MonotonicClock } from '../monotonic-clock.ts'

interface ScheduledTimer {
  readonly at: number
  /** Order of creation. Timers with the same due time fire in this order. */
  readonly number: number
  readonly callback: () => void
}

/** A clock for tests that moves only when `advance` is called. */
export class FakeMonotonicClock implements MonotonicClock {
  #now = 0
  #count = 0
  readonly #timers = new Heap<ScheduledTimer>((a, b) => a.at < b.at || (a.at === b.at && a.number < b.number))
  readonly #cancelled = new Set<ScheduledTimer>()
  readonly #ticks: number

  /** `ticks` is the number of event loop turns that the code under test needs after each timer. */
  constructor(ticks = 4) {
    this.#ticks = ticks
  }

  readonly now = (): number => this.#now

  readonly after = (milliseconds: number, callback: () => void): (() => void) => {
    const timer = { at: this.#now + Math.max(0, milliseconds), number: this.#count++, callback }
    this.#timers.push(timer)
    return () => void this.#cancelled.add(timer)
  }

  /**
   * Runs all timers that become due, in order. After each timer the code under test runs until it settles.
   */
  async advance(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    await this.#flush()
    for (;;) {
      const { first } = this.#timers
      if (first === undefined || first.at > end) break
      this.#timers.pop()
      if (this.#cancelled.delete(first)) continue
      this.#now = first.at
      first.callback()
      await this.#flush()
    }
    this.#now = end
  }

  async #flush(): Promise<void> {
    for (let tick = 0; tick < this.#ticks; tick++) await nextTurn()
  }
}
