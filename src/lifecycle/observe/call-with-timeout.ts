import { duration } from '../../kit/duration.ts'
import { HyperkubeError } from '../../kit/errors.ts'

/** Waits no longer than this, whatever the work makes of its signal: whoever hangs is told of as who does not answer. */
export async function bounded<T>(
  milliseconds: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const over = new AbortController()
  const either = AbortSignal.any([signal, over.signal])
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const message = `no answer within ${duration(milliseconds)}`
    over.abort(new HyperkubeError('TIMED_OUT', message))
  }, milliseconds)
  const end = (): void => late.reject(either.reason)
  either.addEventListener('abort', end, { once: true })
  try {
    return await Promise.race([work(either), late.promise])
  } finally {
    clearTimeout(timer)
    either.removeEventListener('abort', end)
  }
}
