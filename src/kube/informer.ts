import type { Indexes } from './indexes.ts'
import type { ObjectChange, DefinedValue } from './object-store.ts'
import type { WatchChange } from './watch.ts'

/** Source of an informer: the current objects, their indexes and the stream of changes. */
export interface WatchSource<T extends DefinedValue, I extends string> {
  readonly current: ReadonlyMap<string, T>
  readonly indexes: Pick<Indexes<T, I>, 'findKeys' | 'counts'>
  changes(signal: AbortSignal): AsyncIterable<WatchChange<T>>
}

export type ChangeListener<T> = (change: ObjectChange<T>) => void

/** A shared watch. It provides objects by key and by index, and notifies listeners of changes. */
export class Informer<T extends DefinedValue, I extends string = never> {
  readonly name: string
  readonly #source: WatchSource<T, I>
  readonly #onError: (error: unknown) => void
  readonly #listeners = new Set<ChangeListener<T>>()
  readonly #synced = Promise.withResolvers<void>()
  #isSynced = false

  constructor(name: string, source: WatchSource<T, I>, onError: (error: unknown) => void) {
    this.name = name
    this.#source = source
    this.#onError = onError
  }

  get(key: string): T | undefined {
    return this.#source.current.get(key)
  }

  get size(): number {
    return this.#source.current.size
  }

  keys(): IterableIterator<string> {
    return this.#source.current.keys()
  }

  byIndex(index: I, value: string): T[] {
    return [...this.#source.indexes.findKeys(index, value)].flatMap((key) => this.get(key) ?? [])
  }

  /** Yields the number of objects per index value. */
  counts(index: I): Iterable<readonly [word: string, count: number]> {
    return this.#source.indexes.counts(index)
  }

  /** True once the initial list is complete. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /**
   * Adds a listener. Existing objects are reported as added. Listeners run synchronously and should only
   * enqueue work.
   */
  listen(listener: ChangeListener<T>): () => void {
    for (const [key, object] of this.#source.current) this.#notify(listener, { type: 'added', key, object })
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Runs the informer until the signal is aborted. Must be called only once. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    for await (const change of this.#source.changes(signal)) {
      if (change.type === 'listed') {
        this.#isSynced = true
        this.#synced.resolve()
      } else for (const listener of this.#listeners) this.#notify(listener, change)
    }
  }

  #notify(listener: ChangeListener<T>, change: ObjectChange<T>): void {
    try {
      listener(change)
    } catch (error) {
      // A failing listener must not affect the others.
      this.#onError(error)
    }
  }
}
