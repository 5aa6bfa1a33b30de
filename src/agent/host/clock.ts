import { setTimeout as sleep } from 'node:timers/promises'

export interface Clock {
  now(): Date
  /** An abort rejects with the reason of the signal. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
}

export const systemClock: Clock = {
  now: () => new Date(),
  async pause(milliseconds, signal) {
    signal.throwIfAborted()
    await sleep(milliseconds, undefined, { signal }).catch((error: unknown) => {
      // Node's error would hide the reason.
      signal.throwIfAborted()
      throw error
    })
  },
}
