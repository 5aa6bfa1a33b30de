import type { Clock } from '../host/clock.ts'

/** Wakes a loop that waits. */
export interface Wakeup {
  wake(): void
  /** Whether `wake` was called since the last call; resets it. */
  consume(): boolean
  /** Waits for this time, or until `wake` is called. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
}

export function createWakeup(clock: Clock): Wakeup {
  let isPending = false
  let next = Promise.withResolvers<void>()
  return {
    wake() {
      isPending = true
      next.resolve()
    },
    consume() {
      const wasPending = isPending
      isPending = false
      next = Promise.withResolvers()
      return wasPending
    },
    async pause(milliseconds, signal) {
      if (!isPending) await Promise.race([clock.pause(milliseconds, signal), next.promise])
    },
  }
}
