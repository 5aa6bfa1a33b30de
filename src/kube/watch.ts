import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from './client.ts'
import { type Index, Indexes, type IndexEntries } from './indexes.ts'
import { isKubeError, KubeError } from './kube-error.ts'
import { type Kind, createUntypedKind, type KubeObject } from './object.ts'
import { parseKubeResponse } from './parse-response.ts'
import { collectionPath } from './paths.ts'
import { type ListOptions, listObjectPages } from './read-objects.ts'
import { type Backoff, backoffDelay } from './retry-policy.ts'
import { type ObjectChange, formatObjectKey, type DefinedValue, ObjectStore } from './object-store.ts'
import { type WatchEvent, readWatchEvents } from './watch-events.ts'

export interface WatchOptions<
  K extends KubeObject,
  T extends DefinedValue,
  I extends string = never,
> extends Omit<ListOptions, 'signal' | 'timeout'> {
  /** Selects the part of each object to keep. Changes outside of it are not reported. */
  readonly select: (object: K) => T
  readonly indexes?: readonly Index<T, I>[]
  /**
   * Called when the watch has to restart, and with objects that cannot be parsed. The watch continues by
   * itself.
   */
  readonly onError?: (error: unknown) => void
  readonly timing?: Partial<WatchTiming>
  /** Returns a number from 0 to 1. */
  readonly random?: () => number
}

/** In milliseconds. */
export interface WatchTiming {
  /** A connection without data for so long is considered dead. */
  readonly idleTimeout: number
  /** The server ends a watch after one to two times this long, so that not all watches restart together. */
  readonly lifetime: number
  readonly backoff: Backoff
}

const defaultTiming: WatchTiming = {
  // Servers send a bookmark every minute.
  idleTimeout: 90_000,
  lifetime: 300_000,
  backoff: { initial: 500, max: 30_000 },
}

/** After so many failures in a row, the resourceVersion itself may be the problem; a new list fixes that. */
const failuresBeforeRelist = 5

/** `listed`: all existing and all missed deleted objects have been reported. */
export type WatchChange<T> = ObjectChange<T> | { readonly type: 'listed' }

/**
 * Watches all objects of a kind across failures of connections and servers. Changes during an interruption
 * are reported as a difference. Objects that cannot be parsed stay as they were.
 */
export class Watch<K extends KubeObject, T extends DefinedValue, I extends string = never> {
  readonly #client: KubeClient
  readonly #kind: Kind<K>
  readonly #options: WatchOptions<K, T, I>
  readonly #timing: WatchTiming
  readonly #random: () => number
  readonly #store: ObjectStore<T, I>
  /** Version to continue from; undefined if a list must come first. */
  #resourceVersion: string | undefined
  /** Whether to list in one page, because the revision of the next page would be compacted. */
  #listAsOnePage = false
  /** In a row. */
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

  /** Always consistent with `current`. */
  get indexes(): Pick<Indexes<T, I>, 'findKeys' | 'counts'> {
    return this.#store.indexes
  }

  /** Never fails; ends when the signal or that of the client is aborted. Has one consumer. */
  async *changes(signal: AbortSignal): AsyncGenerator<WatchChange<T>, void> {
    const stopSignal = AbortSignal.any([this.#client.signal, signal])
    while (!stopSignal.aborted) {
      const pause = yield* this.#runOnce(stopSignal)
      if (pause > 0) await sleep(pause, undefined, { signal: stopSignal }).catch(() => undefined)
    }
  }

  /** Lists if needed and watches until the connection ends. Returns the delay before the next attempt. */
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
    // An idle cluster sends no events; a connection that lasted for a while counts as success.
    const wasStable = performance.now() - began > 10 * backoff.initial
    if (wasStable) this.#failures = 0
    if (wasStable && ended) return 0
    const pause = backoffDelay(this.#failures++, backoff, this.#random())
    if (this.#failures >= failuresBeforeRelist) this.#resourceVersion = undefined
    // The backoff is added to the requested delay, because the server asks all clients to return at the same
    // moment.
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
    return readWatchEvents(response, `watch ${path}`, { idleTimeout, maxLifetime: lifetime + idleTimeout })
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
