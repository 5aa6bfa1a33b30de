import { isDeepStrictEqual } from 'node:util'
import { Indexes, type IndexEntries } from './indexes.ts'
import type { KubeObject, NamespacedName } from './object.ts'

/** A change of the selected part of an object. */
export type ObjectChange<T> =
  | { readonly type: 'added'; readonly key: string; readonly object: T }
  | { readonly type: 'modified'; readonly key: string; readonly object: T; readonly before: T }
  | { readonly type: 'deleted'; readonly key: string; readonly before: T }

/** Detects a new object with the same name (uid) and a new version of the same object. */
interface ObjectVersion {
  readonly uid: string | undefined
  readonly version: string | undefined
}

/** Any value except null and undefined. */
export type DefinedValue = object | string | number | boolean

/** Cache of objects. Each update yields its changes one by one. */
export class ObjectStore<T extends DefinedValue, I extends string = never> {
  readonly indexes: Indexes<T, I>
  readonly #current = new Map<string, T>()
  readonly #versions = new Map<string, ObjectVersion>()

  constructor(indexes = new Indexes<T, I>([])) {
    this.indexes = indexes
  }

  get current(): ReadonlyMap<string, T> {
    return this.#current
  }

  /** Whether exactly this version is already stored. */
  has({ metadata }: KubeObject): boolean {
    const version = this.#versions.get(formatObjectKey(metadata))
    return version !== undefined && isDeepStrictEqual(version, readObjectVersion(metadata))
  }

  /** `entries` are the index entries of the object. */
  *upsert({ metadata }: KubeObject, object: T, entries: IndexEntries<I> = []): Generator<ObjectChange<T>> {
    const key = formatObjectKey(metadata)
    const version = readObjectVersion(metadata)
    // The deletion of the previous object was missed, and listeners may have to act on it.
    if (this.#versions.get(key)?.uid !== version.uid) yield* this.remove(key)
    const before = this.#current.get(key)
    this.#versions.set(key, version)
    this.#current.set(key, object)
    if (before !== undefined) this.indexes.remove(key, this.indexes.computeEntries(key, before))
    this.indexes.add(key, entries)
    if (before === undefined) yield { type: 'added', key, object }
    else if (!isDeepStrictEqual(before, object)) yield { type: 'modified', key, object, before }
  }

  *remove(key: string): Generator<ObjectChange<T>> {
    const before = this.#current.get(key)
    this.#current.delete(key)
    this.#versions.delete(key)
    if (before === undefined) return
    this.indexes.remove(key, this.indexes.computeEntries(key, before))
    yield { type: 'deleted', key, before }
  }

  /** Removes all other objects. */
  *retainOnly(keys: ReadonlySet<string>): Generator<ObjectChange<T>> {
    for (const key of this.#current.keys()) if (!keys.has(key)) yield* this.remove(key)
  }
}

/** `namespace/name`, or the name alone for cluster-scoped objects. */
export function formatObjectKey({ namespace, name }: NamespacedName): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function readObjectVersion({ uid, resourceVersion }: KubeObject['metadata']): ObjectVersion {
  return { uid, version: resourceVersion }
}
