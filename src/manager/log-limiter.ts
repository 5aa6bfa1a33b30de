import { formatError } from '../kit/errors.ts'
import type { MonotonicClock } from '../kit/monotonic-clock.ts'

/** Milliseconds after which an unchanged error is logged again. */
const repeatMs = 10 * 60_000

/** Logs errors, but repeats the same error of a subject only after some time. */
export class LogLimiter {
  readonly #time: Pick<MonotonicClock, 'now'>
  readonly #log: (line: string) => void
  readonly #reported = new Map<string, { readonly text: string; readonly at: number }>()

  constructor(time: Pick<MonotonicClock, 'now'>, log: (line: string) => void) {
    this.#time = time
    this.#log = log
  }

  /** Logs the error of a subject. All subjects are kept in memory, so their number must be small. */
  report(subject: string, error: unknown): void {
    const text = formatError(error)
    const before = this.#reported.get(subject)
    if (before?.text === text && this.#time.now() - before.at < repeatMs) return
    this.#reported.set(subject, { text, at: this.#time.now() })
    this.#log(`${subject}: ${text}`)
  }

  /** Forgets the last error of a subject that works again. Its next error is logged immediately. */
  reset(subject: string): void {
    this.#reported.delete(subject)
  }
}
