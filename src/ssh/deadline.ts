export interface Deadline {
  readonly signal: AbortSignal
  readonly clear: () => void
}

/** Returns a signal that is also aborted after a timeout. `reason` then creates the abort reason. */
export function startDeadline(signal: AbortSignal, timeoutMs: number, reason: () => Error): Deadline {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(reason()), timeoutMs)
  return { signal: AbortSignal.any([signal, deadline.signal]), clear: () => clearTimeout(timer) }
}

interface Settle<T> {
  /**
   * Ends the wait with a value. Returns false if the wait is already over; the caller must then dispose of
   * the value.
   */
  readonly succeed: (value: T) => boolean
  readonly fail: (reason: unknown) => void
}

/**
 * Waits until `begin` reports success or failure. Fails with the abort reason if a signal is aborted first.
 */
export async function waitUnlessAborted<T>(
  signals: readonly AbortSignal[],
  begin: (outcome: Settle<T>) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let waiting = true
    const listeners = signals.map((signal) => ({ signal, abort: () => fail(signal.reason) }))
    const finish = (): boolean => {
      if (!waiting) return false
      waiting = false
      for (const { signal, abort } of listeners) signal.removeEventListener('abort', abort)
      return true
    }
    const fail = (reason: unknown): void => {
      if (finish()) reject(asError(reason))
    }
    const succeed = (value: T): boolean => {
      const taken = finish()
      if (taken) resolve(value)
      return taken
    }
    for (const { signal, abort } of listeners) {
      if (signal.aborted) return abort()
      signal.addEventListener('abort', abort)
    }
    try {
      begin({ succeed, fail })
    } catch (error) {
      fail(error)
    }
  })
}

export function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason))
}
