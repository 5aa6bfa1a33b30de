export interface Limit {
  readonly signal: AbortSignal
  readonly clear: () => void
}

/** A signal that also aborts after a time, with a reason that says what was waited for. */
export function expiring(signal: AbortSignal, after: number, reason: () => Error): Limit {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(reason()), after)
  return { signal: AbortSignal.any([signal, deadline.signal]), clear: () => clearTimeout(timer) }
}

interface Outcome<T> {
  /** False when nobody waits any more: what was made for them is to be taken away. */
  readonly succeed: (value: T) => boolean
  readonly fail: (reason: unknown) => void
}

/** Waits for what `begin` starts, or until one of the signals aborts; then its reason is the outcome. */
export async function unlessAborted<T>(
  signals: readonly AbortSignal[],
  begin: (outcome: Outcome<T>) => void,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let waiting = true
    const listeners = signals.map((signal) => ({ signal, abort: () => fail(signal.reason) }))
    const settle = (): boolean => {
      if (!waiting) return false
      waiting = false
      for (const { signal, abort } of listeners) signal.removeEventListener('abort', abort)
      return true
    }
    const fail = (reason: unknown): void => {
      if (settle()) reject(asError(reason))
    }
    const succeed = (value: T): boolean => {
      const taken = settle()
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
