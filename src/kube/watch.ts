import { setTimeout as sleep } from 'node:timers/promises'
import type { KubeClient } from './client.ts'
import { type Index, Indexes, type Places } from './indexes.ts'
import { isKubeError, KubeError } from './kube-error.ts'
import { type Kind, kindOf, type KubeObject } from './object.ts'
import { parseAnswer } from './parse-response.ts'
import { collectionPath } from './paths.ts'
import { type ListOptions, pages } from './read-objects.ts'
import { type Backoff, pauseAfter } from './retry-policy.ts'
import { type Change, keyOf, type Some, View } from './object-store.ts'
import { type WatchEvent, watchEvents } from './watch-events.ts'

export interface WatchOptions<K extends KubeObject, T extends Some, I extends string = never> extends Omit<
  ListOptions,
  'signal' | 'timeout'
> {
  /** What is kept of each object. Where only the rest of it changes, nothing has changed. */
  readonly select: (object: K) => T
  readonly indexes?: readonly Index<T, I>[]
  /** Is told why the watch had to begin anew, and which objects it does not understand. It goes on by itself. */
  readonly onTrouble?: (error: unknown) => void
  readonly timing?: Partial<WatchTiming>
  /** From 0 to 1. */
  readonly random?: () => number
}

/** In milliseconds. */
export interface WatchTiming {
  /** A connection on which nothing has come for so long is taken for dead. */
  readonly silence: number
  /** The server ends a watch after this time or up to twice of it, so that not all begin anew together. */
  readonly life: number
  readonly backoff: Backoff
}

const usual: WatchTiming = {
  // Servers send a bookmark every minute.
  silence: 90_000,
  life: 300_000,
  backoff: { first: 500, most: 30_000 },
}

/** After so many failures in a row, perhaps it is the place where we want to go on that is wrong: a list mends that. */
const patience = 5

/** `listed`: all that there is has been told, and what is gone, too. */
export type WatchChange<T> = Change<T> | { readonly type: 'listed' }

/**
 * All objects of a kind, and what becomes of them, whatever happens to connections and servers: what happened while
 * nobody was watching is told as the difference. Objects in a version that we do not understand stay as they were.
 */
export class Watch<K extends KubeObject, T extends Some, I extends string = never> {
  readonly #client: KubeClient
  readonly #kind: Kind<K>
  readonly #options: WatchOptions<K, T, I>
  readonly #timing: WatchTiming
  readonly #random: () => number
  readonly #view: View<T, I>
  /** Where to go on; undefined when all must be listed first. */
  #from: string | undefined
  /** Whether a list has to be one page, because the next one would be forgotten before we come. */
  #whole = false
  /** In a row. */
  #failures = 0

  constructor(client: KubeClient, kind: Kind<K>, options: WatchOptions<K, T, I>) {
    this.#client = client
    this.#kind = kind
    this.#options = options
    this.#view = new View(new Indexes(options.indexes ?? []))
    this.#timing = { ...usual, ...options.timing }
    this.#random = options.random ?? Math.random
  }

  /** By `namespace/name`, as far as changes have been told. */
  get current(): ReadonlyMap<string, T> {
    return this.#view.current
  }

  /** Always those of `current`. */
  get indexes(): Pick<Indexes<T, I>, 'keysOf' | 'counts'> {
    return this.#view.indexes
  }

  /** Never fails, and ends only with the signal, or the client's. They are told once, to one who asks. */
  async *changes(signal: AbortSignal): AsyncGenerator<WatchChange<T>, void> {
    const either = AbortSignal.any([this.#client.signal, signal])
    while (!either.aborted) {
      const pause = yield* this.#turn(either)
      if (pause > 0) await sleep(pause, undefined, { signal: either }).catch(() => undefined)
    }
  }

  /** As long as it goes well. How long to wait before the next one. */
  async *#turn(signal: AbortSignal): AsyncGenerator<WatchChange<T>, number> {
    let ended = false
    let began = Infinity
    let wait = 0
    try {
      if (this.#from === undefined) yield* this.#list(signal)
      const events = await this.#open(signal)
      began = performance.now()
      for await (const event of events) {
        signal.throwIfAborted()
        this.#failures = 0
        yield* this.#take(event)
      }
      ended = true
    } catch (error) {
      if (signal.aborted) return 0
      this.#options.onTrouble?.(error)
      wait = (error instanceof KubeError ? error.retryAfter : undefined) ?? 0
      if (isKubeError(error, 'KUBE_EXPIRED')) this.#whole = this.#from === undefined
      if (isKubeError(error, 'KUBE_EXPIRED') || isKubeError(error, 'KUBE_ANSWER')) this.#from = undefined
    }
    const { backoff } = this.#timing
    // Where nothing happens, there is nothing to hear; that the connection stood for a while is enough.
    const stood = performance.now() - began > 10 * backoff.first
    if (stood) this.#failures = 0
    if (stood && ended) return 0
    const pause = pauseAfter(this.#failures++, backoff, this.#random())
    if (this.#failures >= patience) this.#from = undefined
    // A little later than asked for, because all were asked to come at the same moment.
    return wait + pause
  }

  async *#list(signal: AbortSignal): AsyncGenerator<WatchChange<T>> {
    const { limit = 500 } = this.#options
    const { apiVersion, kind } = this.#kind
    const there = new Set<string>()
    let resourceVersion = ''
    const all = pages(
      this.#client,
      kindOf(apiVersion, kind),
      { ...this.#options, signal },
      this.#whole ? undefined : limit,
    )
    for await (const page of all) {
      for (const object of page.items) {
        signal.throwIfAborted()
        there.add(keyOf(object.metadata))
        yield* this.#put(object)
      }
      ;({ resourceVersion } = page)
    }
    yield* this.#view.keepOnly(there)
    this.#from = resourceVersion
    this.#whole = false
    yield { type: 'listed' }
  }

  async #open(signal: AbortSignal): Promise<AsyncGenerator<WatchEvent>> {
    const { namespace, labels, fields } = this.#options
    const path = collectionPath(await this.#client.discovery.resource(this.#kind, { signal }), namespace)
    const life = this.#timing.life * (1 + this.#random())
    const query = {
      watch: true,
      allowWatchBookmarks: true,
      resourceVersion: this.#from,
      timeoutSeconds: Math.ceil(life / 1000),
      labelSelector: labels,
      fieldSelector: fields,
    }
    const response = await this.#client.stream({ method: 'GET', path, query, once: true, signal })
    const { silence } = this.#timing
    return watchEvents(response, `watch ${path}`, { silence, life: life + silence })
  }

  *#take({ type, object }: WatchEvent): Generator<Change<T>> {
    if (type === 'DELETED') yield* this.#view.remove(keyOf(object.metadata))
    else if (type !== 'BOOKMARK') yield* this.#put(object)
    this.#from = object.metadata.resourceVersion
  }

  *#put(object: KubeObject): Generator<Change<T>> {
    if (this.#view.has(object)) return
    let selected: T
    let places: Places<I>
    try {
      const key = keyOf(object.metadata)
      const what = `${this.#kind.kind} ${key}`
      selected = this.#options.select(parseAnswer(this.#kind.schema, object, what))
      places = this.#view.indexes.placesOf(key, selected)
    } catch (error) {
      this.#options.onTrouble?.(error)
      return
    }
    yield* this.#view.put(object, selected, places)
  }
}
