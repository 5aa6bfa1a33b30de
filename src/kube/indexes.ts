/** An index: its name and a deterministic function that computes the index values of an object. */
export type Index<T, I extends string> = readonly [
  name: I,
  words: (object: T, key: string) => readonly string[],
]

export type IndexEntries<I extends string> = readonly (readonly [index: I, word: string])[]

/**
 * Maps index values to object keys. The cost of a lookup depends on the number of matches, not of objects.
 */
export class Indexes<T, I extends string> {
  readonly #indexes: readonly Index<T, I>[]
  readonly #keys: ReadonlyMap<I, Map<string, Set<string>>>

  constructor(indexes: readonly Index<T, I>[]) {
    this.#indexes = indexes
    this.#keys = new Map(indexes.map(([name]) => [name, new Map<string, Set<string>>()]))
  }

  computeEntries(key: string, object: T): IndexEntries<I> {
    return this.#indexes.flatMap(([index, values]) =>
      values(object, key).map((value) => [index, value] as const),
    )
  }

  add(key: string, entries: IndexEntries<I>): void {
    for (const [index, value] of entries) {
      const values = this.#keys.get(index)
      const keys = values?.get(value)
      if (keys === undefined) values?.set(value, new Set([key]))
      else keys.add(key)
    }
  }

  remove(key: string, entries: IndexEntries<I>): void {
    for (const [index, value] of entries) {
      const values = this.#keys.get(index)
      const keys = values?.get(value)
      keys?.delete(key)
      if (keys?.size === 0) values?.delete(value)
    }
  }

  findKeys(index: I, value: string): ReadonlySet<string> {
    return this.#keys.get(index)?.get(value) ?? new Set()
  }

  /** Yields the number of objects per index value. */
  *counts(index: I): Generator<readonly [word: string, count: number]> {
    for (const [value, keys] of this.#keys.get(index) ?? []) yield [value, keys.size]
  }
}
