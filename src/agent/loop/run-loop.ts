import type { Clock } from '../host/clock.ts'
import { failureOf } from '../runs/runs.ts'

/** What came of a look. */
export interface Look {
  /** When to look again, in milliseconds. */
  readonly next: number
  /** What did not go well; nothing at all when nobody has looked. */
  readonly troubles?: readonly unknown[]
}

export interface RoundsOptions {
  readonly look: () => Promise<Look>
  /** Until the first look, and until the next one after one that has failed. In milliseconds. */
  readonly first: number
  readonly usual: number
  readonly clock: Clock
  /** From 0 to 1. */
  readonly random: () => number
  readonly say: (text: string) => void
  readonly signal: AbortSignal
}

/** Looks again and again, until it shall end; nothing else ends it. Each kind of trouble is told once, until it is over. */
export async function rounds(options: RoundsOptions): Promise<void> {
  const { look, first, usual, clock, random, say, signal } = options
  let known: ReadonlySet<string> = new Set()
  let pause = first
  while (!signal.aborted) {
    await clock.pause(varied(pause, random()), signal).catch(() => undefined)
    if (signal.aborted) return
    const { next, troubles } = await look().catch((error: unknown): Look => ({
      next: usual,
      troubles: signal.aborted ? [] : [error],
    }))
    pause = next
    if (troubles === undefined) continue
    const kinds = new Map(troubles.map(failureOf).map((failure) => [failure.code, failure]))
    for (const { code, message, hint } of kinds.values()) {
      if (!known.has(code)) say(`${code}: ${message}${hint === undefined ? '' : ` -> ${hint}`}`)
    }
    known = new Set(kinds.keys())
  }
}

/** Never later than asked for. Hosts that were set up together are not to come together. */
export function varied(pause: number, random: number): number {
  return pause * (0.75 + random / 4)
}
