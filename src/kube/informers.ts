import type { KubeClient } from './client.ts'
import type { Informer } from './informer.ts'
import type { KubeObject } from './object.ts'
import type { WatchSpec } from './watch-spec.ts'
import type { DefinedValue } from './object-store.ts'
import type { WatchTiming } from './watch.ts'

export interface InformersOptions {
  readonly onError: (source: string, error: unknown) => void
  readonly timing?: Partial<WatchTiming>
}

/** The part of an informer that does not depend on its object type. */
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

  /** All informers must be requested before `run`. A later one would never be started. */
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
