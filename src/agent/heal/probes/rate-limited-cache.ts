/** Minimum time between two requests for the same list, in milliseconds. */
const minAgeMs = 60_000

/**
 * Bytes per millisecond: lists may cost about 4 KB per second on average, whatever their length. Every node
 * requests lists that grow with the cluster, so without a limit the API load would grow with the square of
 * its size. With the limit 5,000 nodes request 20 MB per second from all API servers together. Each node
 * reads 1.3 MB of nodes every five minutes, and 15 MB of services every hour.
 */
const bytesPerMs = 4

interface CacheEntry<T> {
  /** By a monotonic clock. */
  readonly until: number
  readonly value: T
}

/** Caches large responses; larger ones are kept longer. */
export class RateLimitedCache<T> {
  readonly #now: () => number
  readonly #entries = new Map<string, CacheEntry<T>>()

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Loads the value if the cached one is too old. If loading fails, the old value is returned if there is
   * one.
   */
  async get(key: string, load: () => Promise<string>, parse: (text: string) => T): Promise<T> {
    const known = this.#entries.get(key)
    if (known !== undefined && this.#now() < known.until) return known.value
    try {
      const text = await load()
      const value = parse(text)
      this.#entries.set(key, { until: this.#now() + Math.max(minAgeMs, text.length / bytesPerMs), value })
      return value
    } catch (error) {
      if (known !== undefined) return known.value
      throw error
    }
  }
}
