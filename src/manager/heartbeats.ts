import type { MonotonicClock } from '../kit/monotonic-clock.ts'

/**
 * Milliseconds without a heartbeat after which an agent is silent. Agents send a heartbeat every two minutes.
 */
export const silentAfterMs = 5 * 60_000
/**
 * Maximum age in milliseconds of the first heartbeat that the manager reads from a host. If it is older, the
 * agent counts as silent at once. The limit is high, because clocks of hosts may differ.
 */
const staleAfterMs = 30 * 60_000

interface LastHeartbeat {
  readonly heartbeat: string | undefined
  readonly receivedAt: number
}

/** A host or a cluster that reports at an interval. */
interface HeartbeatSource {
  readonly name: string
  readonly status: { readonly heartbeat?: string | undefined }
}

export interface HeartbeatsOptions {
  readonly time: Pick<MonotonicClock, 'now'>
  readonly now: () => Date
  /** Milliseconds without a heartbeat after which a source is silent. */
  readonly silentMs?: number
}

/**
 * Tracks which agents are silent, with the manager's monotonic clock, because clocks of hosts may be wrong.
 * If all hosts stop sending heartbeats, the cause is more likely the manager or the API. Agents then count as
 * silent only after three times this time.
 */
export class Heartbeats {
  readonly #time: Pick<MonotonicClock, 'now'>
  readonly #now: () => Date
  readonly #silentMs: number
  readonly #hosts = new Map<string, LastHeartbeat>()
  /** Monotonic time at which the last heartbeat of any host was received. */
  #lastReceivedAt = -Infinity

  constructor({ time, now, silentMs = silentAfterMs }: HeartbeatsOptions) {
    this.#time = time
    this.#silentMs = silentMs
    this.#now = now
  }

  /** Records the heartbeat in a Host object if it has changed. */
  observe({ name, status: { heartbeat } }: HeartbeatSource): void {
    const before = this.#hosts.get(name)
    if (before !== undefined && before.heartbeat === heartbeat) return
    // When the manager starts, Host objects may contain old heartbeats of silent agents. An old heartbeat
    // must not count as received now.
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
    return age >= (sinceAny < this.#silentMs ? this.#silentMs : 3 * this.#silentMs)
  }
}
