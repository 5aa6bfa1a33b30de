import { setTimeout as sleep } from 'node:timers/promises'
import { duration } from './duration.ts'
import { HyperkubeError } from './errors.ts'

export interface UntilOptions {
  /** Give up after so many milliseconds. */
  readonly within: number
  /** Pause between two looks, in milliseconds. */
  readonly every?: number
  readonly signal?: AbortSignal
}

/**
 * Looks again and again until `look` answers with something other than undefined or false. A look that
 * throws counts as "not yet"; what it threw last is the cause of the timeout.
 */
export async function until<T>(
  what: string,
  look: (signal: AbortSignal) => Promise<T | undefined | false>,
  { within, every = 100, signal }: UntilOptions,
): Promise<T> {
  const deadline = AbortSignal.timeout(within)
  const either = signal === undefined ? deadline : AbortSignal.any([deadline, signal])
  // Ends the wait for a look that hangs.
  const aborted = new Promise<undefined>((resolve) => {
    either.addEventListener('abort', () => resolve(undefined), { once: true })
  })
  let last: unknown
  while (!either.aborted) {
    try {
      const seen = await Promise.race([look(either), aborted])
      if (seen !== undefined && seen !== false) return seen
    } catch (error) {
      if (!either.aborted) last = error
    }
    await sleep(every, undefined, { signal: either }).catch(() => undefined)
  }
  signal?.throwIfAborted()
  throw new HyperkubeError('TIMED_OUT', `waited ${duration(within)} for ${what}`, { cause: last })
}
