/** Priority queue (binary heap). `pop` returns the item that is before all others. */
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
