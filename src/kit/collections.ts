/** Priority queue (binary heap). `pop` returns the first item in the order that `isBefore` defines. */
export class Heap<T> {
  readonly #items: T[] = []
  readonly #isBefore: (a: T, b: T) => boolean

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore
  }

  get size(): number {
    return this.#items.length
  }

  get first(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    let index = this.#items.push(item) - 1
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!this.#swapIfNeeded(parent, index)) return
      index = parent
    }
  }

  pop(): T | undefined {
    const [first] = this.#items
    const last = this.#items.pop()
    if (this.#items.length === 0 || last === undefined) return first
    this.#items[0] = last
    let index = 0
    for (;;) {
      const [left, right] = [2 * index + 1, 2 * index + 2]
      const smallest = this.#isLess(right, left) ? right : left
      if (!this.#swapIfNeeded(index, smallest)) return first
      index = smallest
    }
  }

  #isLess(one: number, other: number): boolean {
    const [a, b] = [this.#items[one], this.#items[other]]
    return a !== undefined && b !== undefined && this.#isBefore(a, b)
  }

  /** Swaps parent and child if they are in the wrong order. Returns true if they were swapped. */
  #swapIfNeeded(parent: number, child: number): boolean {
    const [a, b] = [this.#items[parent], this.#items[child]]
    if (a === undefined || b === undefined || !this.#isBefore(b, a)) return false
    this.#items[parent] = b
    this.#items[child] = a
    return true
  }
}

/** FIFO queue whose operations take amortized constant time. */
export class FifoQueue<T> {
  readonly #items: T[] = []
  #head = 0

  get length(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  shift(): T | undefined {
    if (this.#head === this.#items.length) return undefined
    const item = this.#items[this.#head++]
    // Frees the consumed entries when they are more than half of the array.
    if (this.#head > 1000 && this.#head * 2 > this.#items.length) {
      this.#items.splice(0, this.#head)
      this.#head = 0
    }
    return item
  }
}

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
