/** Cache of limited size that evicts the least recently used entry. */
export class LruCache<T> {
  readonly #maxSize: number
  readonly #entries = new Map<string, T>()

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  get(key: string): T | undefined {
    const value = this.#entries.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: string, value: T): void {
    this.#entries.delete(key)
    this.#entries.set(key, value)
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#maxSize && oldest !== undefined) this.#entries.delete(oldest)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }
}
