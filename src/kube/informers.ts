import type { KubeClient } from './client.ts'
import type { Index } from './indexes.ts'
import { Informer } from './informer.ts'
import { KubeError } from './kube-error.ts'
import type { Kind, KubeObject } from './object.ts'
import type { DefinedValue } from './object-store.ts'
import type { ListOptions } from './read-objects.ts'
import { findKnownResource } from './resources.ts'
import { Watch, type WatchTiming } from './watch.ts'

export interface WatchSpecOptions<
  K extends KubeObject,
  T extends DefinedValue,
  I extends string,
> extends Pick<ListOptions, 'namespace' | 'labels' | 'fields'> {
  /** Name in messages and metrics. */
  readonly name: string
  readonly kind: Kind<K>
  /** Plural name in API paths; optional for known kinds. */
  readonly plural?: string
  readonly select: (object: K) => T
  readonly indexes?: readonly Index<T, I>[]
}

export interface OpenInformerOptions {
  readonly onError: (error: unknown) => void
  readonly timing?: Partial<WatchTiming>
}

/** Describes a watch before it is started. All users of a WatchSpec share one informer per `Informers`. */
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

  /** Returns undefined if the informer was not opened yet. */
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
