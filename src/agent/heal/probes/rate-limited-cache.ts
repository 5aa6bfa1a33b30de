/** No list is asked for more often than this, in milliseconds. */
const least = 60_000

/**
 * Bytes a millisecond: about 4 KB a second is what lists may cost on average, however long they are. All nodes of a
 * cluster ask for what grows with the cluster, so without a limit the API would answer with the square of its size. With
 * it 5,000 nodes ask for 20 MB a second from all API servers together, and each looks at 1.3 MB of nodes every five
 * minutes and at 15 MB of services every hour.
 */
const rate = 4

interface Answer<T> {
  /** By a clock that nobody sets. */
  readonly until: number
  readonly value: T
}

/** What long answers said, as long as it is good enough. */
export class Kept<T> {
  readonly #now: () => number
  readonly #answers = new Map<string, Answer<T>>()

  /** Milliseconds, by a clock that nobody sets. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** Asks when what is kept is too old. When nobody answers, the old answer has to do, where there is one. */
  async get(key: string, ask: () => Promise<string>, read: (text: string) => T): Promise<T> {
    const known = this.#answers.get(key)
    if (known !== undefined && this.#now() < known.until) return known.value
    try {
      const text = await ask()
      const value = read(text)
      this.#answers.set(key, { until: this.#now() + Math.max(least, text.length / rate), value })
      return value
    } catch (error) {
      if (known !== undefined) return known.value
      throw error
    }
  }
}
