import { setImmediate as nextTurn } from 'node:timers/promises'
import { Heap } from '../heap.ts'
import type { Time } from '../monotonic-clock.ts'

interface Alarm {
  readonly at: number
  /** Of two for the same moment, the one that was set first. */
  readonly number: number
  readonly act: () => void
}

/** A time that goes on only when a test says so. */
export class TestTime implements Time {
  #now = 0
  #number = 0
  readonly #alarms = new Heap<Alarm>((a, b) => a.at < b.at || (a.at === b.at && a.number < b.number))
  readonly #off = new Set<Alarm>()
  readonly #turns: number

  /** As many turns of Node's loop as what is tested may take for one thing. */
  constructor(turns = 4) {
    this.#turns = turns
  }

  readonly now = (): number => this.#now

  readonly after = (milliseconds: number, act: () => void): (() => void) => {
    const alarm = { at: this.#now + Math.max(0, milliseconds), number: this.#number++, act }
    this.#alarms.put(alarm)
    return () => void this.#off.add(alarm)
  }

  /** Everything that is due meanwhile happens in its order, each with all that follows from it at once. */
  async goOn(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds
    await this.#settled()
    for (;;) {
      const { first } = this.#alarms
      if (first === undefined || first.at > end) break
      this.#alarms.take()
      if (this.#off.delete(first)) continue
      this.#now = first.at
      first.act()
      await this.#settled()
    }
    this.#now = end
  }

  async #settled(): Promise<void> {
    for (let turn = 0; turn < this.#turns; turn++) await nextTurn()
  }
}
