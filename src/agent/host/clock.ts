import { setTimeout as sleep } from 'node:timers/promises'

export interface Clock {
  now(): Date
  /** Waits. If the signal aborts, rejects with the signal's reason. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  async pause(milliseconds, signal) {
    signal.throwIfAborted()
    await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
      // Throw the reason of the signal instead of Node's AbortError.
      signal.throwIfAborted()
      throw error
    })
  },
}
