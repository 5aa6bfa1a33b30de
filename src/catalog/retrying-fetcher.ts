import { setTimeout as sleep } from 'node:timers/promises'
import { type Fetcher, isTransientUrlError } from './fetcher.ts'

/** Waits for a number of milliseconds. On abort it rejects with the reason of the signal. */
export type RetryPause = (milliseconds: number, signal: AbortSignal) => Promise<void>

/** Milliseconds before the second and the third attempt. */
const retryDelaysMs = [500, 2000] as const

/**
 * Wraps a fetcher and tries each download up to three times if the network or a server fails. Other errors
 * are not retried.
 */
export function retryingFetcher(fetcher: Fetcher, pause: RetryPause = pauseWithTimer): Fetcher {
  return {
    text: async (url, limit, signal) =>
      withFetchRetries(async () => fetcher.text(url, limit, signal), signal, pause),
    sha256: async (url, limit, signal) =>
      withFetchRetries(async () => fetcher.sha256(url, limit, signal), signal, pause),
  }
}

export async function withFetchRetries<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  pause: RetryPause = pauseWithTimer,
): Promise<T> {
  for (const delayMs of retryDelaysMs) {
    try {
      return await attempt()
    } catch (error) {
      if (!isTransientUrlError(error)) throw error
    }
    await pause(delayMs, signal)
  }
  return attempt()
}

async function pauseWithTimer(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    // Throws the reason of the signal instead of Node's AbortError.
    signal.throwIfAborted()
    throw error
  })
}
