import { setTimeout as sleep } from 'node:timers/promises'
import { formatDuration } from './duration.ts'
import { HyperkubeError } from './errors.ts'

export interface PollOptions {
  /** Milliseconds after which polling fails. */
  readonly timeoutMs: number
  /** Milliseconds between two checks. */
  readonly intervalMs?: number
  readonly signal?: AbortSignal
}

/**
 * Calls `check` until it returns a value other than undefined or false. Errors of `check` are ignored; the
 * last one becomes the cause of a timeout error.
 */
export async function pollUntil<T>(
  what: string,
  check: (signal: AbortSignal) => Promise<T | undefined | false>,
  { timeoutMs, intervalMs = 100, signal }: PollOptions,
): Promise<T> {
  const deadline = AbortSignal.timeout(timeoutMs)
  const stopSignal = signal === undefined ? deadline : AbortSignal.any([deadline, signal])
  // Resolves on abort, so that a check that hangs does not block the return.
  const aborted = new Promise<undefined>((resolve) => {
    stopSignal.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  let lastError: unknown
  while (!stopSignal.aborted) {
    try {
      const value = await Promise.race([check(stopSignal), aborted])
      if (value !== undefined && value !== false) return value
    } catch (error) {
      if (!stopSignal.aborted) lastError = error
    }
    await sleep(intervalMs, undefined, { signal: stopSignal }).catch(() => undefined)
  }
  signal?.throwIfAborted()
  throw new HyperkubeError('TIMED_OUT', `waited ${formatDuration(timeoutMs)} for ${what}`, {
    cause: lastError,
  })
}
