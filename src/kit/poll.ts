import { setTimeout as sleep } from 'node:timers/promises'
import { formatDuration } from './time-format.ts'
import { HyperkubeError } from './errors.ts'

/** Waits for a number of milliseconds. On abort it rejects with the reason of the signal. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>

/**
 * A Pause that uses real timers. Unlike Node's own sleep, it rejects with the signal's reason instead of an
 * AbortError.
 */
export const sleepOrAbort: Pause = async (milliseconds, signal) => {
  signal.throwIfAborted()
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    throw error
  })
}

export interface RetryOptions {
  /** Milliseconds before the second attempt and each further one. */
  readonly delaysMs: readonly number[]
  /** True if another attempt may succeed. */
  readonly isTransient: (error: unknown) => boolean
  readonly pause: Pause
  readonly signal: AbortSignal
}

/** Calls `attempt` again after each delay, as long as it fails with a transient error. */
export async function retryTransient<T>(
  attempt: () => Promise<T>,
  { delaysMs, isTransient, pause, signal }: RetryOptions,
): Promise<T> {
  for (const delayMs of delaysMs) {
    try {
      return await attempt()
    } catch (error) {
      if (!isTransient(error)) throw error
    }
    await pause(delayMs, signal)
  }
  return attempt()
}

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

/** An unchanged reason is reported again after this time, to show that the wait continues. */
const repeatMs = 5000

export interface ProgressPollOptions {
  /** Called with the reason why the wait is not over, and the start time of the wait. */
  readonly report: (reason: string, since: string) => Promise<void> | void
  /** Builds the error that is thrown after the deadline. */
  readonly toTimeoutError: (reason: string) => Promise<Error> | Error
  readonly now: () => Date
  /** End of the wait, in milliseconds since 1970. */
  readonly deadline: number
  /** Milliseconds between two checks. */
  readonly intervalMs: number
  /** Default: real timers. */
  readonly pause?: Pause
  readonly signal: AbortSignal
}

/** Longest pause after a slow check, unless the interval is longer. */
const maxPauseMs = 2000

/**
 * Polls until `findPendingReason` returns undefined. After a slow check, pauses for as long as the check
 * took, so that checks take at most half of the time. Reports the current reason during the wait.
 */
export async function pollWithProgress(
  findPendingReason: () => Promise<string | undefined>,
  { report, toTimeoutError, now, deadline, intervalMs, pause = sleepOrAbort, signal }: ProgressPollOptions,
): Promise<void> {
  const since = now().toISOString()
  let reported = { reason: '', time: 0 }
  for (;;) {
    const startedAt = now().getTime()
    const reason = await findPendingReason()
    if (reason === undefined) return
    signal.throwIfAborted()
    const time = now().getTime()
    if (time > deadline) throw await toTimeoutError(reason)
    if (reason !== reported.reason || time - reported.time > repeatMs) {
      await report(reason, since)
      reported = { reason, time }
    }
    await pause(Math.max(intervalMs, Math.min(time - startedAt, maxPauseMs)), signal)
  }
}
