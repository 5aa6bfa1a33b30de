import type { KubeClient } from './client.ts'
import type { Informer } from './informer.ts'
import type { KubeObject } from './object.ts'
import type { Source } from './watch-spec.ts'
import type { Some } from './object-store.ts'
import type { WatchTiming } from './watch.ts'

export interface InformersOptions {
  readonly onTrouble: (source: string, error: unknown) => void
  readonly timing?: Partial<WatchTiming>
}

/** What is known of any informer, whatever it is about. */
export type InformerState = Pick<Informer<Some>, 'name' | 'size' | 'isSynced' | 'synced' | 'run'>

/** Informers that many share: of each source there is one. */
export class Informers {
  readonly #client: KubeClient
  readonly #options: InformersOptions
  readonly #all: InformerState[] = []
  #isRunning = false

  constructor(client: KubeClient, options: InformersOptions) {
    this.#client = client
    this.#options = options
  }

  /** All must be asked for before they run: who comes later would never hear anything. */
  of<K extends KubeObject, T extends Some, I extends string>(source: Source<K, T, I>): Informer<T, I> {
    const known = source.in(this)
    if (known !== undefined) return known
    if (this.#isRunning) throw new Error(`informers run already, without ${source.name}`)
    const { onTrouble, timing } = this.#options
    const informer = source.open(this, this.#client, {
      onTrouble: (error) => onTrouble(source.name, error),
      ...(timing === undefined ? {} : { timing }),
    })
    this.#all.push(informer)
    return informer
  }

  get all(): readonly InformerState[] {
    return this.#all
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    this.#isRunning = true
    await Promise.all(this.#all.map(async (informer) => informer.run(signal)))
  }
}
