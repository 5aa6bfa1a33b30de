import type { Time } from '../kit/monotonic-clock.ts'
import type { KnownHost } from './watch-specs.ts'

/** In milliseconds. Agents give a sign of life every two minutes. */
export const silentAfter = 5 * 60_000
/** So old by the clock on the wall, a word is not from just now, even where clocks are a little wrong. */
const old = 30 * 60_000

interface Heard {
  readonly heartbeat: string | undefined
  readonly at: number
}

/**
 * Since when agents have been silent, by our own clock: those of hosts may be wrong. Who has just begun to listen has
 * heard everybody just now; and where nobody is heard at all, it is rather us, or the API, that does not hear.
 */
export class Heartbeats {
  readonly #time: Pick<Time, 'now'>
  readonly #now: () => Date
  readonly #heard = new Map<string, Heard>()
  /** When anybody was heard last. */
  #newest = -Infinity

  constructor({ time, now }: { readonly time: Pick<Time, 'now'>; readonly now: () => Date }) {
    this.#time = time
    this.#now = now
  }

  /** What its object says now. */
  hear({ name, status: { heartbeat } }: KnownHost): void {
    const before = this.#heard.get(name)
    if (before !== undefined && before.heartbeat === heartbeat) return
    // Who begins to listen finds the last words of those who went silent long ago.
    const isOld = before === undefined && this.#now().getTime() - Date.parse(heartbeat ?? '') > old
    if (!isOld) this.#newest = this.#time.now()
    this.#heard.set(name, { heartbeat, at: isOld ? -Infinity : this.#newest })
  }

  forget(name: string): void {
    this.#heard.delete(name)
  }

  isSilent(name: string): boolean {
    const heard = this.#heard.get(name)
    if (heard?.heartbeat === undefined) return true
    const [age, deaf] = [this.#time.now() - heard.at, this.#time.now() - this.#newest]
    return age >= (deaf < silentAfter ? silentAfter : 3 * silentAfter)
  }
}
