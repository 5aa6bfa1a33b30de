import type { MonotonicClock } from '../kit/monotonic-clock.ts'
import type { KnownHost } from './watch-specs.ts'

/** In milliseconds. Agents send a heartbeat every two minutes. */
export const silentAfterMs = 5 * 60_000
/** A heartbeat with an older timestamp is not recent, even if clocks differ a little. */
const staleAfterMs = 30 * 60_000

interface LastHeartbeat {
  readonly heartbeat: string | undefined
  readonly receivedAt: number
}

/**
 * Tracks which agents are silent, by our own monotonic clock, because clocks of hosts may be wrong. At its
 * start all hosts count as just heard. If no host at all sends heartbeats, the problem is more likely here or
 * at the API, so the limit is three times longer.
 */
export class Heartbeats {
  readonly #time: Pick<MonotonicClock, 'now'>
  readonly #now: () => Date
  readonly #hosts = new Map<string, LastHeartbeat>()
  /** When any heartbeat was received last. */
  #lastReceivedAt = -Infinity

  constructor({ time, now }: { readonly time: Pick<MonotonicClock, 'now'>; readonly now: () => Date }) {
    this.#time = time
    this.#now = now
  }

  /** Takes over the heartbeat of the host's object. */
  observe({ name, status: { heartbeat } }: KnownHost): void {
    const before = this.#hosts.get(name)
    if (before !== undefined && before.heartbeat === heartbeat) return
    // At its start it also reads the last heartbeats of hosts that went silent long ago.
    const isStale = before === undefined && this.#now().getTime() - Date.parse(heartbeat ?? '') > staleAfterMs
    if (!isStale) this.#lastReceivedAt = this.#time.now()
    this.#hosts.set(name, { heartbeat, receivedAt: isStale ? -Infinity : this.#lastReceivedAt })
  }

  forget(name: string): void {
    this.#hosts.delete(name)
  }

  isSilent(name: string): boolean {
    const last = this.#hosts.get(name)
    if (last?.heartbeat === undefined) return true
    const [age, sinceAny] = [this.#time.now() - last.receivedAt, this.#time.now() - this.#lastReceivedAt]
    return age >= (sinceAny < silentAfterMs ? silentAfterMs : 3 * silentAfterMs)
  }
}
