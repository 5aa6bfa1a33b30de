import type { Clock } from '../host/clock.ts'
import { toRunFailure } from '../runs/runs.ts'

/** Result of one tick. */
export interface TickResult {
  /** Milliseconds until the next tick. */
  readonly nextMs: number
  /** Errors of this tick; undefined if the tick was skipped. */
  readonly problems?: readonly unknown[]
}

export interface LoopOptions {
  readonly tick: () => Promise<TickResult>
  /** Milliseconds until the first tick, and until the next one after a failure. */
  readonly firstMs: number
  readonly retryMs: number
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: (text: string) => void
  readonly signal: AbortSignal
}

/**
 * Calls `tick` repeatedly until the signal aborts; nothing else ends the loop. Each error code is logged once
 * until it disappears.
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
 * Shortens a delay by up to a quarter, never lengthens it, so that hosts that were installed together do not
 * act at the same moment.
 */
export function withJitter(delayMs: number, random: number): number {
  return delayMs * (0.75 + random / 4)
}
