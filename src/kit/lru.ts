/** Remembers so many, and forgets first what nobody has asked for the longest. */
export class Recent<T> {
  readonly #most: number
  readonly #all = new Map<string, T>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): T | undefined {
    const value = this.#all.get(key)
    if (value !== undefined) this.set(key, value)
    return value
  }

  set(key: string, value: T): void {
    this.#all.delete(key)
    this.#all.set(key, value)
    const [oldest] = this.#all.keys()
    if (this.#all.size > this.#most && oldest !== undefined) this.#all.delete(oldest)
  }

  delete(key: string): void {
    this.#all.delete(key)
  }
}
