import { setTimeout as sleep } from 'node:timers/promises'

/** Told again so often, that a person sees that it is still so. */
const reminder = 5000

export interface Watchful {
  /** Tells why it is not over yet. */
  readonly tell: (reason: string, since: string) => Promise<void> | void
  /** What to fail with when it has taken too long. */
  readonly late: (reason: string) => Promise<Error> | Error
  readonly now: () => Date
  /** When it has taken too long, in the milliseconds of `now`. */
  readonly deadline: number
  /** Milliseconds between two looks. */
  readonly every: number
  readonly signal: AbortSignal
}

/** Looks until there is no reason to wait any more, and tells meanwhile what it is. */
export async function waitWatchfully(
  look: () => Promise<string | undefined>,
  { tell, late, now, deadline, every, signal }: Watchful,
): Promise<void> {
  const since = now().toISOString()
  let told = { reason: '', time: 0 }
  for (;;) {
    const reason = await look()
    if (reason === undefined) return
    signal.throwIfAborted()
    const time = now().getTime()
    if (time > deadline) throw await late(reason)
    if (reason !== told.reason || time - told.time > reminder) {
      await tell(reason, since)
      told = { reason, time }
    }
    await sleep(every, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
