import { formatDuration } from '../../kit/duration.ts'
import { HyperkubeError } from '../../kit/errors.ts'

/**
 * Calls `work` and fails after the timeout even if `work` ignores its signal. A hanging host then counts as
 * unreachable.
 */
export async function callWithTimeout<T>(
  timeoutMs: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted()
  const timeout = new AbortController()
  const combined = AbortSignal.any([signal, timeout.signal])
  const aborted = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const message = `no answer within ${formatDuration(timeoutMs)}`
    timeout.abort(new HyperkubeError('TIMED_OUT', message))
  }, timeoutMs)
  const rejectAborted = (): void => aborted.reject(combined.reason)
  combined.addEventListener('abort', rejectAborted, { once: true })
  try {
    return await Promise.race([work(combined), aborted.promise])
  } finally {
    clearTimeout(timer)
    combined.removeEventListener('abort', rejectAborted)
  }
}
