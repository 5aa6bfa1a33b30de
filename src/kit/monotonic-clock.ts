/** A monotonic clock with timers. */
export interface MonotonicClock {
  /** Milliseconds since an arbitrary start. */
  readonly now: () => number
  /** Calls `callback` once after `milliseconds`. The returned function cancels the timer. */
  readonly after: (milliseconds: number, callback: () => void) => () => void
}

/** Maximum delay of a Node timer. Node fires timers with a longer delay immediately. */
const maxTimerMs = 2 ** 31 - 1

export const monotonicClock: MonotonicClock = {
  now: () => performance.now(),
  after(milliseconds, callback) {
    const timer = setTimeout(callback, Math.min(milliseconds, maxTimerMs))
    return () => clearTimeout(timer)
  },
}

/** Resolves when the time is over or the signal aborts. Never rejects. */
export async function sleepUnlessAborted(
  { after }: MonotonicClock,
  milliseconds: number,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const cancel = after(milliseconds, end)
    signal.addEventListener('abort', end, { once: true })
  })
}
