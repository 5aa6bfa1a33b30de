import { isDeepStrictEqual } from 'node:util'
import { Indexes, type IndexEntries } from './indexes.ts'
import type { KubeObject, NamespacedName } from './object.ts'

/** A change of the selected fields of an object. */
export type ObjectChange<T> =
  | { readonly type: 'added'; readonly key: string; readonly object: T }
  | { readonly type: 'modified'; readonly key: string; readonly object: T; readonly before: T }
  | { readonly type: 'deleted'; readonly key: string; readonly before: T }

/** Identifies a version of an object. The uid detects that the object was deleted and created again. */
interface ObjectVersion {
  readonly uid: string | undefined
  readonly version: string | undefined
}

/** Any value except null and undefined. */
export type DefinedValue = object | string | number | boolean

/** Cache of objects. Each update yields the resulting changes. */
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

  /** True if exactly this version of the object is stored. */
  has({ metadata }: KubeObject): boolean {
    const version = this.#versions.get(formatObjectKey(metadata))
    return version !== undefined && isDeepStrictEqual(version, readObjectVersion(metadata))
  }

  /** Adds or replaces an object. `entries` are its index entries. */
  *upsert({ metadata }: KubeObject, object: T, entries: IndexEntries<I> = []): Generator<ObjectChange<T>> {
    const key = formatObjectKey(metadata)
    const version = readObjectVersion(metadata)
    // The object was deleted and created again, but the deletion was missed. Listeners may have to act on it.
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

  /** Removes all objects except those with the given keys. */
  *retainOnly(keys: ReadonlySet<string>): Generator<ObjectChange<T>> {
    for (const key of this.#current.keys()) if (!keys.has(key)) yield* this.remove(key)
  }
}

/** Returns `namespace/name`, or only the name for cluster-scoped objects. */
export function formatObjectKey({ namespace, name }: NamespacedName): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function readObjectVersion({ uid, resourceVersion }: KubeObject['metadata']): ObjectVersion {
  return { uid, version: resourceVersion }
}
