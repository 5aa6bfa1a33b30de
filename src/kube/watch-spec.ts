import type { KubeClient } from './client.ts'
import type { Index } from './indexes.ts'
import { Informer } from './informer.ts'
import type { Informers } from './informers.ts'
import { KubeError } from './kube-error.ts'
import type { Kind, KubeObject } from './object.ts'
import type { ListOptions } from './read-objects.ts'
import { knownResource } from './resources.ts'
import type { Some } from './object-store.ts'
import { Watch, type WatchTiming } from './watch.ts'

export interface SourceOptions<K extends KubeObject, T extends Some, I extends string> extends Pick<
  ListOptions,
  'namespace' | 'labels' | 'fields'
> {
  /** For people, and in metrics. */
  readonly name: string
  readonly kind: Kind<K>
  /** As the API calls the kind in paths; may be left out where we know it. */
  readonly plural?: string
  readonly select: (object: K) => T
  readonly indexes?: readonly Index<T, I>[]
}

export interface SourceSettings {
  readonly onTrouble: (error: unknown) => void
  readonly timing?: Partial<WatchTiming>
}

/** What can be watched, before anybody does. Whoever names the same one in the same set of informers shares one watch. */
export class Source<K extends KubeObject, T extends Some, I extends string = never> {
  readonly name: string
  readonly #options: SourceOptions<K, T, I>
  readonly #informers = new WeakMap<Informers, Informer<T, I>>()

  constructor(options: SourceOptions<K, T, I>) {
    this.name = options.name
    this.#options = options
  }

  /** What whoever watches it must be allowed to. */
  get right(): { readonly group: string; readonly plural: string; readonly namespace: string | undefined } {
    const { kind, namespace, plural = knownResource(kind.apiVersion, kind.kind)?.plural } = this.#options
    if (plural === undefined) throw new KubeError('KUBE_KIND_UNKNOWN', `${this.name} has no plural`)
    return { group: groupOf(kind.apiVersion), plural, namespace }
  }

  /** The one informer of these; undefined before somebody has opened it. */
  in(informers: Informers): Informer<T, I> | undefined {
    return this.#informers.get(informers)
  }

  open(informers: Informers, client: KubeClient, { onTrouble, timing }: SourceSettings): Informer<T, I> {
    const { kind, select, indexes = [], namespace, labels, fields } = this.#options
    const watch = new Watch<K, T, I>(client, kind, {
      select,
      indexes,
      onTrouble,
      ...(timing === undefined ? {} : { timing }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(labels === undefined ? {} : { labels }),
      ...(fields === undefined ? {} : { fields }),
    })
    const informer = new Informer(this.name, watch, onTrouble)
    this.#informers.set(informers, informer)
    return informer
  }
}

function groupOf(apiVersion: string): string {
  const [group = '', version] = apiVersion.split('/')
  return version === undefined ? '' : group
}
