/** Time as one process has it: it only goes on. In milliseconds. */
export interface Time {
  /** From any point on. */
  readonly now: () => number
  /** Acts once, after so long; what comes back calls it off. */
  readonly after: (milliseconds: number, act: () => void) => () => void
}

/** Node's timers go off at once when they are set for longer. */
const longest = 2 ** 31 - 1

export const realTime: Time = {
  now: () => performance.now(),
  after(milliseconds, act) {
    const timer = setTimeout(act, Math.min(milliseconds, longest))
    return () => clearTimeout(timer)
  },
}

/** Ends when the time is over or the signal says so, and never fails. */
export async function pause({ after }: Time, milliseconds: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const end = (): void => {
      callOff()
      signal.removeEventListener('abort', end)
      resolve()
    }
    const callOff = after(milliseconds, end)
    signal.addEventListener('abort', end, { once: true })
  })
}
