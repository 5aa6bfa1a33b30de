import type { Clock } from '../host/clock.ts'
import { toRunFailure } from './runs.ts'

export interface TickResult {
  /** Milliseconds until the next tick. */
  readonly nextMs: number
  /** Errors of this tick; undefined if the tick did nothing. */
  readonly problems?: readonly unknown[]
}

export interface LoopOptions {
  readonly tick: () => Promise<TickResult>
  /** Milliseconds until the first tick. `retryMs` is the delay after a tick that threw. */
  readonly firstMs: number
  readonly retryMs: number
  readonly clock: Clock
  /** Returns a random number from 0 to 1. */
  readonly random: () => number
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Calls `tick` repeatedly until the signal aborts. An error does not end the loop. An error code that occurs
 * in consecutive ticks is logged only once.
 */
export async function runLoop(options: LoopOptions): Promise<void> {
  const { tick, firstMs, retryMs, clock, random, log, signal } = options
  let knownCodes: ReadonlySet<string> = new Set()
  let delayMs = firstMs
  while (!signal.aborted) {
    await clock.pause(withJitter(delayMs, random()), signal).catch(() => undefined)
    if (signal.aborted) return
    const { nextMs, problems } = await tick().catch((error: unknown): TickResult => ({
      nextMs: retryMs,
      problems: signal.aborted ? [] : [error],
    }))
    delayMs = nextMs
    if (problems === undefined) continue
    const kinds = new Map(problems.map(toRunFailure).map((failure) => [failure.code, failure]))
    for (const { code, message, hint } of kinds.values()) {
      if (!knownCodes.has(code)) log(`${code}: ${message}${hint === undefined ? '' : ` -> ${hint}`}`)
    }
    knownCodes = new Set(kinds.keys())
  }
}

/**
 * Shortens a delay by up to a quarter, so that hosts that were installed together do not act at the same
 * moment.
 */
export function withJitter(delayMs: number, random: number): number {
  return delayMs * (0.75 + random / 4)
}

/** Wakes a waiting loop early. */
interface Wakeup {
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
