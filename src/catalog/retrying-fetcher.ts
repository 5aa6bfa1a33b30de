import { setTimeout as sleep } from 'node:timers/promises'
import { type Fetcher, isPassing } from './fetcher.ts'

/** Waits for so many milliseconds; an abort ends the wait with its reason. */
export type Pause = (milliseconds: number, signal: AbortSignal) => Promise<void>

/** Before the second and the third try, in milliseconds. */
const pauses = [500, 2000] as const

/** Tries three times when the network or a server fails; what would fail again is tried once. */
export function retrying(fetcher: Fetcher, pause: Pause = realPause): Fetcher {
  return {
    text: async (url, limit, signal) => attempts(async () => fetcher.text(url, limit, signal), signal, pause),
    sha256: async (url, limit, signal) =>
      attempts(async () => fetcher.sha256(url, limit, signal), signal, pause),
  }
}

export async function attempts<T>(
  attempt: () => Promise<T>,
  signal: AbortSignal,
  pause: Pause = realPause,
): Promise<T> {
  for (const wait of pauses) {
    try {
      return await attempt()
    } catch (error) {
      if (!isPassing(error)) throw error
    }
    await pause(wait, signal)
  }
  return attempt()
}

async function realPause(milliseconds: number, signal: AbortSignal): Promise<void> {
  await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
    // Node's own error would hide the reason.
    signal.throwIfAborted()
    throw error
  })
}
