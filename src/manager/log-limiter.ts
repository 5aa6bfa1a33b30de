import { formatError } from '../kit/errors.ts'
import type { MonotonicClock } from '../kit/monotonic-clock.ts'

/** An unchanged error is logged again after this time. */
const repeatMs = 10 * 60_000

/** Logs errors without repeating the same one all the time. */
export class LogLimiter {
  readonly #time: Pick<MonotonicClock, 'now'>
  readonly #log: (line: string) => void
  readonly #reported = new Map<string, { readonly text: string; readonly at: number }>()

  constructor(time: Pick<MonotonicClock, 'now'>, log: (line: string) => void) {
    this.#time = time
    this.#log = log
  }

  /** Every subject is remembered, so there must be few. */
  report(subject: string, error: unknown): void {
    const text = formatError(error)
    const before = this.#reported.get(subject)
    if (before?.text === text && this.#time.now() - before.at < repeatMs) return
    this.#reported.set(subject, { text, at: this.#time.now() })
    this.#log(`${subject}: ${text}`)
  }

  /** The subject works again: its next error is logged in any case. */
  reset(subject: string): void {
    this.#reported.delete(subject)
  }
}
