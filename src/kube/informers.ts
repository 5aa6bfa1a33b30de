import type { KubeClient } from './client.ts'
import { KubeError } from './kube-error.ts'
import type { DefinedValue, Index, Indexes, ObjectChange } from './object-store.ts'
import type { Kind, KubeObject } from './object.ts'
import type { ListOptions } from './read-objects.ts'
import { findKnownResource } from './resources.ts'
import { Watch, type WatchChange, type WatchTiming } from './watch.ts'

export interface InformersOptions {
  readonly onError: (source: string, error: unknown) => void
  readonly timing?: Partial<WatchTiming>
}

/** The members of an informer that do not depend on its object type. */
export type InformerState = Pick<Informer<DefinedValue>, 'name' | 'size' | 'isSynced' | 'synced' | 'run'>

/** Shared informers: one for each WatchSpec. */
export class Informers {
  readonly #client: KubeClient
  readonly #options: InformersOptions
  readonly #all: InformerState[] = []
  #isRunning = false

  constructor(client: KubeClient, options: InformersOptions) {
    this.#client = client
    this.#options = options
  }

  /**
   * Returns the shared informer of a WatchSpec. All informers must be requested before `run`, because later
   * ones would never be started.
   */
  getInformer<K extends KubeObject, T extends DefinedValue, I extends string>(
    source: WatchSpec<K, T, I>,
  ): Informer<T, I> {
    const known = source.findInformer(this)
    if (known !== undefined) return known
    if (this.#isRunning) throw new Error(`informers run already, without ${source.name}`)
    const { onError, timing } = this.#options
    const informer = source.openInformer(this, this.#client, {
      onError: (error) => onError(source.name, error),
      ...(timing === undefined ? {} : { timing }),
    })
    this.#all.push(informer)
    return informer
  }

  get all(): readonly InformerState[] {
    return this.#all
  }

  /** Runs all informers until the signal is aborted. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true
    await Promise.all(this.#all.map(async (informer) => informer.run(signal)))
  }
}

function readGroup(apiVersion: string): string {
  const [group = '', version] = apiVersion.split('/')
  return version === undefined ? '' : group
}

export interface WatchSpecOptions<
  K extends KubeObject,
  T extends DefinedValue,
  I extends string,
> extends Pick<ListOptions, 'namespace' | 'labels' | 'fields'> {
  /** Name in messages and metrics. */
  readonly name: string
  readonly kind: Kind<K>
  /** Plural name in API paths. Optional for kinds whose API path hyperkube knows. */
  readonly plural?: string
  readonly select: (object: K) => T
  readonly indexes?: readonly Index<T, I>[]
}

export interface OpenInformerOptions {
  readonly onError: (error: unknown) => void
  readonly timing?: Partial<WatchTiming>
}

/** Describes a watch. All users of the same WatchSpec share one informer within an `Informers` object. */
export class WatchSpec<K extends KubeObject, T extends DefinedValue, I extends string = never> {
  readonly name: string
  readonly #options: WatchSpecOptions<K, T, I>
  readonly #informers = new WeakMap<Informers, Informer<T, I>>()

  constructor(options: WatchSpecOptions<K, T, I>) {
    this.name = options.name
    this.#options = options
  }

  /** The resource that the watching user must be allowed to list and watch. */
  get requiredAccess(): {
    readonly group: string
    readonly plural: string
    readonly namespace: string | undefined
  } {
    const { kind, namespace, plural = findKnownResource(kind.apiVersion, kind.kind)?.plural } = this.#options
    if (plural === undefined) throw new KubeError('KUBE_KIND_UNKNOWN', `${this.name} has no plural`)
    return { group: readGroup(kind.apiVersion), plural, namespace }
  }

  /** Returns undefined if `openInformer` was not called yet for these informers. */
  findInformer(informers: Informers): Informer<T, I> | undefined {
    return this.#informers.get(informers)
  }

  openInformer(
    informers: Informers,
    client: KubeClient,
    { onError, timing }: OpenInformerOptions,
  ): Informer<T, I> {
    const { kind, select, indexes = [], namespace, labels, fields } = this.#options
    const watch = new Watch<K, T, I>(client, kind, {
      select,
      indexes,
      onError,
      ...(timing === undefined ? {} : { timing }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(fields === undefined ? {} : { fields }),
    })
    const informer = new Informer(this.name, watch, onError)
    this.#informers.set(informers, informer)
    return informer
  }
}

/** Source of an informer: the current objects, their indexes and the stream of changes. */
interface WatchSource<T extends DefinedValue, I extends string> {
  readonly current: ReadonlyMap<string, T>
  readonly indexes: Pick<Indexes<T, I>, 'findKeys' | 'counts'>
  changes(signal: AbortSignal): AsyncIterable<WatchChange<T>>
}

type ChangeListener<T> = (change: ObjectChange<T>) => void

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
      // An error in one listener must not affect other listeners.
      this.#onError(error)
    }
  }
}
