import type { Clock } from '../host/clock.ts'

/** Wakes a waiting loop early. */
export interface Wakeup {
  wake(): void
  /** Returns true if `wake` was called since the last call of `consume`. */
  consume(): boolean
  /** Waits for this many milliseconds or until `wake` is called. */
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
