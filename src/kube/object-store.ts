import { isDeepStrictEqual } from 'node:util'
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
    // A different uid means that the object was deleted and created again. The missed deletion is reported
    // first, because listeners may have to act on it.
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

/** An index: its name and a deterministic function that computes the index values of an object. */
export type Index<T, I extends string> = readonly [
  name: I,
  words: (object: T, key: string) => readonly string[],
]

export type IndexEntries<I extends string> = readonly (readonly [index: I, word: string])[]

/**
 * Maps index values to object keys. The cost of a lookup depends on the number of matches, not on the number
 * of all objects.
 */
export class Indexes<T, I extends string> {
  readonly #indexes: readonly Index<T, I>[]
  readonly #keys: ReadonlyMap<I, Map<string, Set<string>>>

  constructor(indexes: readonly Index<T, I>[]) {
    this.#indexes = indexes
    this.#keys = new Map(indexes.map(([name]) => [name, new Map<string, Set<string>>()]))
  }

  computeEntries(key: string, object: T): IndexEntries<I> {
    return this.#indexes.flatMap(([index, values]) =>
      values(object, key).map((value) => [index, value] as const),
    )
  }

  add(key: string, entries: IndexEntries<I>): void {
    for (const [index, value] of entries) {
      const values = this.#keys.get(index)
      const keys = values?.get(value)
      if (keys === undefined) values?.set(value, new Set([key]))
      else keys.add(key)
    }
  }

  remove(key: string, entries: IndexEntries<I>): void {
    for (const [index, value] of entries) {
      const values = this.#keys.get(index)
      const keys = values?.get(value)
      keys?.delete(key)
      if (keys?.size === 0) values?.delete(value)
    }
  }

  findKeys(index: I, value: string): ReadonlySet<string> {
    return this.#keys.get(index)?.get(value) ?? new Set()
  }

  /** Yields the number of objects per index value. */
  *counts(index: I): Generator<readonly [word: string, count: number]> {
    for (const [value, keys] of this.#keys.get(index) ?? []) yield [value, keys.size]
  }
}
