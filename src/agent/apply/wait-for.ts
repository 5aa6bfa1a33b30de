import type { Clock } from '../host/clock.ts'
import type { Told } from './emit-run-event.ts'

/** What was found, or what is still missing. */
export type Look<T> = { readonly found: T } | { readonly for: string }

export interface Waiting {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly tell: (what: Told) => void
  /** Between two looks, in milliseconds. */
  readonly every?: number
}

const usually = 200
/** Between two words on it. What is there soon is not worth one. */
const toldEvery = 5000

/** Looks until something is found, for as long as it takes. What it waits for is told again and again. */
export async function waitFor<T>(look: () => Promise<Look<T>>, waiting: Waiting): Promise<T> {
  const { clock, signal, tell, every = usually } = waiting
  const since = clock.now()
  let told = since.getTime() - toldEvery + 1000
  for (;;) {
    signal.throwIfAborted()
    const seen = await look()
    if ('found' in seen) return seen.found
    const now = clock.now().getTime()
    if (now - told >= toldEvery) {
      told = now
      tell({ type: 'waiting', for: seen.for, since: since.toISOString() })
    }
    await clock.pause(every, signal)
  }
}
