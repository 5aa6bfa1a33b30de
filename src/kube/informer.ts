import type { Indexes } from './indexes.ts'
import type { Change, Some } from './object-store.ts'
import type { WatchChange } from './watch.ts'

/** Where changes come from. */
export interface Watched<T extends Some, I extends string> {
  readonly current: ReadonlyMap<string, T>
  readonly indexes: Pick<Indexes<T, I>, 'keysOf' | 'counts'>
  changes(signal: AbortSignal): AsyncIterable<WatchChange<T>>
}

export type Listener<T> = (change: Change<T>) => void

/** One watch for all who want to know: what there is, found by key and by index, and a word at each change. */
export class Informer<T extends Some, I extends string = never> {
  readonly name: string
  readonly #watched: Watched<T, I>
  readonly #onTrouble: (error: unknown) => void
  readonly #listeners = new Set<Listener<T>>()
  readonly #synced = Promise.withResolvers<void>()
  #isSynced = false

  constructor(name: string, watched: Watched<T, I>, onTrouble: (error: unknown) => void) {
    this.name = name
    this.#watched = watched
    this.#onTrouble = onTrouble
  }

  get(key: string): T | undefined {
    return this.#watched.current.get(key)
  }

  get size(): number {
    return this.#watched.current.size
  }

  keys(): IterableIterator<string> {
    return this.#watched.current.keys()
  }

  by(index: I, word: string): T[] {
    return [...this.#watched.indexes.keysOf(index, word)].flatMap((key) => this.get(key) ?? [])
  }

  /** How many there are of each word. */
  counts(index: I): Iterable<readonly [word: string, count: number]> {
    return this.#watched.indexes.counts(index)
  }

  /** Whether all that there was at the beginning is known. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** What is there already is told as added. Listeners only note what is to be done: they are waited for. */
  listen(listener: Listener<T>): () => void {
    for (const [key, object] of this.#watched.current) this.#tell(listener, { type: 'added', key, object })
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Never fails, and ends with the signal. Once. */
  async run(signal: AbortSignal): Promise<void> {
    for await (const change of this.#watched.changes(signal)) {
      if (change.type === 'listed') {
        this.#isSynced = true
        this.#synced.resolve()
      } else for (const listener of this.#listeners) this.#tell(listener, change)
    }
  }

  #tell(listener: Listener<T>, change: Change<T>): void {
    try {
      listener(change)
    } catch (error) {
      // One who cannot listen keeps nobody else from it.
      this.#onTrouble(error)
    }
  }
}
