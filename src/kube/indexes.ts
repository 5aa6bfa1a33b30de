/** Under which words an object is found, beside its key. The same object, the same words. */
export type Index<T, I extends string> = readonly [
  name: I,
  words: (object: T, key: string) => readonly string[],
]

export type Places<I extends string> = readonly (readonly [index: I, word: string])[]

/** Keys of objects by words: to find those of a word costs as much as there are of them, however many others there are. */
export class Indexes<T, I extends string> {
  readonly #indexes: readonly Index<T, I>[]
  readonly #keys: ReadonlyMap<I, Map<string, Set<string>>>

  constructor(indexes: readonly Index<T, I>[]) {
    this.#indexes = indexes
    this.#keys = new Map(indexes.map(([name]) => [name, new Map<string, Set<string>>()]))
  }

  placesOf(key: string, object: T): Places<I> {
    return this.#indexes.flatMap(([index, words]) => words(object, key).map((word) => [index, word] as const))
  }

  enter(key: string, places: Places<I>): void {
    for (const [index, word] of places) {
      const words = this.#keys.get(index)
      const keys = words?.get(word)
      if (keys === undefined) words?.set(word, new Set([key]))
      else keys.add(key)
    }
  }

  leave(key: string, places: Places<I>): void {
    for (const [index, word] of places) {
      const words = this.#keys.get(index)
      const keys = words?.get(word)
      keys?.delete(key)
      if (keys?.size === 0) words?.delete(word)
    }
  }

  keysOf(index: I, word: string): ReadonlySet<string> {
    return this.#keys.get(index)?.get(word) ?? new Set()
  }

  /** How many objects there are of each word. */
  *counts(index: I): Generator<readonly [word: string, count: number]> {
    for (const [word, keys] of this.#keys.get(index) ?? []) yield [word, keys.size]
  }
}
