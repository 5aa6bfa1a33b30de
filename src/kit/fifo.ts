/** Who came first is served first, and each at the same small cost, however many wait. */
export class Line<T> {
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
    // Those who were served are let go of once they are the greater part.
    if (this.#head > 1000 && this.#head * 2 > this.#items.length) {
      this.#items.splice(0, this.#head)
      this.#head = 0
    }
    return item
  }
}
