import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from './client.ts'
import { isKubeError, KubeError } from './kube-error.ts'
import {
  type DefinedValue,
  formatObjectKey,
  type Index,
  type IndexEntries,
  Indexes,
  type ObjectChange,
  ObjectStore,
} from './object-store.ts'
import { createUntypedKind, type Kind, type KubeObject, parseKubeResponse } from './object.ts'
import { listObjectPages, type ListOptions } from './read-objects.ts'
import { collectionPath } from './resources.ts'
import { type Backoff, backoffDelay } from './retry-policy.ts'
import { readWatchEvents, type WatchEvent } from './watch-events.ts'

export interface WatchOptions<
  K extends KubeObject,
  T extends DefinedValue,
  I extends string = never,
> extends Omit<ListOptions, 'signal' | 'timeout'> {
  /** Selects the part of each object to keep. Changes in other parts are not reported. */
  readonly select: (object: K) => T
  readonly indexes?: readonly Index<T, I>[]
  /** Called when the watch has to restart, and when an object cannot be parsed. The watch then continues. */
  readonly onError?: (error: unknown) => void
  readonly timing?: Partial<WatchTiming>
  /** Source of random numbers from 0 to 1, used to vary delays. */
  readonly random?: () => number
}

/** Timing of a watch, in milliseconds. */
export interface WatchTiming {
  /** A connection counts as dead if it receives no data for this long. */
  readonly idleTimeout: number
  /**
   * The server ends a watch after one to two times this duration. The random factor keeps watches from
   * restarting together.
   */
  readonly lifetime: number
  readonly backoff: Backoff
}

const defaultTiming: WatchTiming = {
  // Servers send a bookmark every minute, so a live connection is never idle for longer.
  idleTimeout: 90_000,
  lifetime: 300_000,
  backoff: { initial: 500, max: 30_000 },
}

/**
 * Number of failures in a row after which the watch lists again, because the resourceVersion itself may cause
 * the failures.
 */
const failuresBeforeRelist = 5

const maxLineLength = 64 * 2 ** 20

/** `listed`: all existing objects and all deletions that were missed have been reported. */
export type WatchChange<T> = ObjectChange<T> | { readonly type: 'listed' }

/**
 * Watches all objects of a kind and survives failures of connections and servers. Changes during an
 * interruption are reported afterwards. If an object cannot be parsed, its previous state stays.
 */
export class Watch<K extends KubeObject, T extends DefinedValue, I extends string = never> {
  readonly #client: KubeClient
  readonly #kind: Kind<K>
  readonly #options: WatchOptions<K, T, I>
  readonly #timing: WatchTiming
  readonly #random: () => number
  readonly #store: ObjectStore<T, I>
  /** Version from which to continue; undefined if a list is needed first. */
  #resourceVersion: string | undefined
  /** True if the next list must use a single page, because the revision was compacted between two pages. */
  #listAsOnePage = false
  /** Number of failures in a row. */
  #failures = 0

  constructor(client: KubeClient, kind: Kind<K>, options: WatchOptions<K, T, I>) {
    this.#client = client
    this.#kind = kind
    this.#options = options
    this.#store = new ObjectStore(new Indexes(options.indexes ?? []))
    this.#timing = { ...defaultTiming, ...options.timing }
    this.#random = options.random ?? Math.random
  }

  /** Objects by `namespace/name`, up to the last reported change. */
  get current(): ReadonlyMap<string, T> {
    return this.#store.current
  }

  /** Indexes of the objects, always consistent with `current`. */
  get indexes(): Pick<Indexes<T, I>, 'findKeys' | 'counts'> {
    return this.#store.indexes
  }

  /**
   * Yields changes until `signal` or the client's signal is aborted. Never throws. Must have only one
   * consumer.
   */
  async *changes(signal: AbortSignal): AsyncGenerator<WatchChange<T>, void> {
    const stopSignal = AbortSignal.any([this.#client.signal, signal])
    while (!stopSignal.aborted) {
      const pause = yield* this.#runOnce(stopSignal)
      if (pause > 0) await sleep(pause, undefined, { signal: stopSignal }).catch(() => undefined)
    }
  }

  /**
   * Lists the objects if needed, then watches until the connection ends. Returns the delay before the next
   * attempt.
   */
  async *#runOnce(signal: AbortSignal): AsyncGenerator<WatchChange<T>, number> {
    let ended = false
    let began = Infinity
    let wait = 0
    try {
      if (this.#resourceVersion === undefined) yield* this.#list(signal)
      const events = await this.#open(signal)
      began = performance.now()
      for await (const event of events) {
        signal.throwIfAborted()
        this.#failures = 0
        yield* this.#applyEvent(event)
      }
      ended = true
    } catch (error) {
      if (signal.aborted) return 0
      this.#options.onError?.(error)
      wait = (error instanceof KubeError ? error.retryAfter : undefined) ?? 0
      if (isKubeError(error, 'KUBE_EXPIRED')) this.#listAsOnePage = this.#resourceVersion === undefined
      if (isKubeError(error, 'KUBE_EXPIRED') || isKubeError(error, 'KUBE_INVALID_RESPONSE'))
        this.#resourceVersion = undefined
    }
    const { backoff } = this.#timing
    // A connection that lasted for a while counts as success even without events, because an idle cluster
    // sends no events.
    const wasStable = performance.now() - began > 10 * backoff.initial
    if (wasStable) this.#failures = 0
    if (wasStable && ended) return 0
    const pause = backoffDelay(this.#failures++, backoff, this.#random())
    if (this.#failures >= failuresBeforeRelist) this.#resourceVersion = undefined
    // The server may request the same delay from all clients. The random backoff is added, so that the
    // clients do not all return at once.
    return wait + pause
  }

  async *#list(signal: AbortSignal): AsyncGenerator<WatchChange<T>> {
    const { limit = 500 } = this.#options
    const { apiVersion, kind } = this.#kind
    const listedKeys = new Set<string>()
    let resourceVersion = ''
    const all = listObjectPages(
      this.#client,
      createUntypedKind(apiVersion, kind),
      { ...this.#options, signal },
      this.#listAsOnePage ? undefined : limit,
    )
    for await (const page of all) {
      for (const object of page.items) {
        signal.throwIfAborted()
        listedKeys.add(formatObjectKey(object.metadata))
        yield* this.#upsert(object)
      }
      ;({ resourceVersion } = page)
    }
    yield* this.#store.retainOnly(listedKeys)
    this.#resourceVersion = resourceVersion
    this.#listAsOnePage = false
    yield { type: 'listed' }
  }

  async #open(signal: AbortSignal): Promise<AsyncGenerator<WatchEvent>> {
    const { namespace, labels, fields } = this.#options
    const path = collectionPath(await this.#client.discovery.resource(this.#kind, { signal }), namespace)
    const lifetime = this.#timing.lifetime * (1 + this.#random())
    const query = {
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: this.#resourceVersion,
      timeoutSeconds: Math.ceil(lifetime / 1000),
      labelSelector: labels,
      fieldSelector: fields,
    }
    const response = await this.#client.stream({ method: 'GET', path, query, once: true, signal })
    const { idleTimeout } = this.#timing
    return readWatchEvents(response, `watch ${path}`, {
      idleTimeout,
      maxLifetime: lifetime + idleTimeout,
      maxLineLength: Math.min(maxLineLength, this.#client.maxResponseBytes),
    })
  }

  *#applyEvent({ type, object }: WatchEvent): Generator<ObjectChange<T>> {
    if (type === 'DELETED') yield* this.#store.remove(formatObjectKey(object.metadata))
    else if (type !== 'BOOKMARK') yield* this.#upsert(object)
    this.#resourceVersion = object.metadata.resourceVersion
  }

  *#upsert(object: KubeObject): Generator<ObjectChange<T>> {
    if (this.#store.has(object)) return
    let selected: T
    let entries: IndexEntries<I>
    try {
      const key = formatObjectKey(object.metadata)
      const what = `${this.#kind.kind} ${key}`
      selected = this.#options.select(parseKubeResponse(this.#kind.schema, object, what))
      entries = this.#store.indexes.computeEntries(key, selected)
    } catch (error) {
      this.#options.onError?.(error)
      return
    }
    yield* this.#store.upsert(object, selected, entries)
  }
}
