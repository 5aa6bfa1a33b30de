/** Gives back first what comes before all others, whenever it was put in. */
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

  put(item: T): void {
    let at = this.#items.push(item) - 1
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#swapped(above, at)) return
      at = above
    }
  }

  take(): T | undefined {
    const [first] = this.#items
    const last = this.#items.pop()
    if (this.#items.length === 0 || last === undefined) return first
    this.#items[0] = last
    let at = 0
    for (;;) {
      const [left, right] = [2 * at + 1, 2 * at + 2]
      const least = this.#comesBefore(right, left) ? right : left
      if (!this.#swapped(at, least)) return first
      at = least
    }
  }

  #comesBefore(one: number, other: number): boolean {
    const [a, b] = [this.#items[one], this.#items[other]]
    return a !== undefined && b !== undefined && this.#isBefore(a, b)
  }

  /** Whether the one below had to go up. */
  #swapped(above: number, below: number): boolean {
    const [a, b] = [this.#items[above], this.#items[below]]
    if (a === undefined || b === undefined || !this.#isBefore(b, a)) return false
    this.#items[above] = b
    this.#items[below] = a
    return true
  }
}
