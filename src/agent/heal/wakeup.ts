import type { Clock } from '../host/clock.ts'

/** Wakes whoever waits. */
export interface Bell {
  ring(): void
  /** Whether it rang since it was asked last. */
  heard(): boolean
  /** Waits as long, or until it rings. */
  pause(milliseconds: number, signal: AbortSignal): Promise<void>
}

export function bellFor(clock: Clock): Bell {
  let rang = false
  let next = Promise.withResolvers<void>()
  return {
    ring() {
      rang = true
      next.resolve()
    },
    heard() {
      const answer = rang
      rang = false
      next = Promise.withResolvers()
      return answer
    },
    async pause(milliseconds, signal) {
      if (!rang) await Promise.race([clock.pause(milliseconds, signal), next.promise])
    },
  }
}
