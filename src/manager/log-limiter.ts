import { describe } from '../kit/errors.ts'
import type { Time } from '../kit/monotonic-clock.ts'

/** What is still so is said again after so many milliseconds. */
const reminder = 10 * 60_000

/** Says what goes wrong, and not again and again while it is the same. */
export class Complaints {
  readonly #time: Pick<Time, 'now'>
  readonly #log: (line: string) => void
  readonly #said = new Map<string, { readonly words: string; readonly at: number }>()

  constructor(time: Pick<Time, 'now'>, log: (line: string) => void) {
    this.#time = time
    this.#log = log
  }

  /** `what` are few: each is remembered. */
  say(what: string, error: unknown): void {
    const words = describe(error)
    const before = this.#said.get(what)
    if (before?.words === words && this.#time.now() - before.at < reminder) return
    this.#said.set(what, { words, at: this.#time.now() })
    this.#log(`${what}: ${words}`)
  }

  /** It is well again: whatever comes next is news. */
  forget(what: string): void {
    this.#said.delete(what)
  }
}
