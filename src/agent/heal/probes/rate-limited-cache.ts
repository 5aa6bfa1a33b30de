/** Minimum time between two requests for the same list, in milliseconds. */
const minAgeMs = 60_000

/**
 * Average rate at which lists may be read, in bytes per millisecond (about 4 KB per second). Every node reads
 * lists that grow with the cluster, so the API load would otherwise grow with the square of the node count.
 * With 5,000 nodes the total is 20 MB per second. Each node then reads 1.3 MB of nodes every five minutes and
 * 15 MB of services every hour.
 */
const bytesPerMs = 4

interface CacheEntry<T> {
  /** Time at which the entry expires, in milliseconds of a monotonic clock. */
  readonly until: number
  readonly value: T
}

/** Caches large responses. The larger a response, the longer it is kept. */
export class RateLimitedCache<T> {
  readonly #now: () => number
  readonly #entries = new Map<string, CacheEntry<T>>()

  /** `now` returns milliseconds of a monotonic clock. */
  constructor(now: () => number) {
    this.#now = now
  }

  /**
   * Returns the cached value, or loads it if it has expired. If loading fails, an expired value is returned
   * as well.
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
