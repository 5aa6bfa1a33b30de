import type { Clock } from '../host/clock.ts'
import type { RunEventBody } from '../records/run-op.ts'

/** The result of a wait, or a text that names what is still missing. */
export type WaitResult<T> = { readonly found: T } | { readonly for: string }

export interface WaitOptions {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly emit: (what: RunEventBody) => void
  /** Milliseconds between two checks. */
  readonly intervalMs?: number
  /** If set, the interval grows up to this many milliseconds. */
  readonly maxIntervalMs?: number
}

const defaultIntervalMs = 200
/**
 * Milliseconds between two waiting events. The first event comes after one second, so short waits do not emit
 * events.
 */
const reportIntervalMs = 5000

/** Calls `check` until it returns a result, without a timeout. Emits a waiting event at intervals. */
export async function waitFor<T>(check: () => Promise<WaitResult<T>>, options: WaitOptions): Promise<T> {
  const { clock, signal, emit } = options
  let { intervalMs = defaultIntervalMs } = options
  const since = clock.now()
  let reportedAt = since.getTime() - reportIntervalMs + 1000
  for (;;) {
    signal.throwIfAborted()
    const result = await check()
    if ('found' in result) return result.found
    const now = clock.now().getTime()
    if (now - reportedAt >= reportIntervalMs) {
      reportedAt = now
      emit({ type: 'waiting', for: result.for, since: since.toISOString() })
    }
    await clock.pause(intervalMs, signal)
    intervalMs = Math.min(1.5 * intervalMs, options.maxIntervalMs ?? intervalMs)
  }
}
