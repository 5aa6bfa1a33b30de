import { isDeepStrictEqual } from 'node:util'
import { Indexes, type Places } from './indexes.ts'
import type { KubeObject, Place } from './object.ts'

/** What has become of an object, as far as somebody wants to know it. */
export type Change<T> =
  | { readonly type: 'added'; readonly key: string; readonly object: T }
  | { readonly type: 'modified'; readonly key: string; readonly object: T; readonly before: T }
  | { readonly type: 'deleted'; readonly key: string; readonly before: T }

/** An object of this name may be another one than before, and the same one in another version. */
interface Mark {
  readonly uid: string | undefined
  readonly version: string | undefined
}

/** Anything but nothing. */
export type Some = object | string | number | boolean

/** What is known of objects. Whatever it is told, it does one change after the other, and tells each of them. */
export class View<T extends Some, I extends string = never> {
  readonly indexes: Indexes<T, I>
  readonly #current = new Map<string, T>()
  readonly #marks = new Map<string, Mark>()

  constructor(indexes = new Indexes<T, I>([])) {
    this.indexes = indexes
  }

  get current(): ReadonlyMap<string, T> {
    return this.#current
  }

  /** Whether this very version of it is already here. */
  has({ metadata }: KubeObject): boolean {
    const mark = this.#marks.get(keyOf(metadata))
    return mark !== undefined && isDeepStrictEqual(mark, markOf(metadata))
  }

  /** `places` are those of the object in the indexes. */
  *put({ metadata }: KubeObject, object: T, places: Places<I> = []): Generator<Change<T>> {
    const key = keyOf(metadata)
    const mark = markOf(metadata)
    // Its deletion was missed, and somebody may have to act on it.
    if (this.#marks.get(key)?.uid !== mark.uid) yield* this.remove(key)
    const before = this.#current.get(key)
    this.#marks.set(key, mark)
    this.#current.set(key, object)
    if (before !== undefined) this.indexes.leave(key, this.indexes.placesOf(key, before))
    this.indexes.enter(key, places)
    if (before === undefined) yield { type: 'added', key, object }
    else if (!isDeepStrictEqual(before, object)) yield { type: 'modified', key, object, before }
  }

  *remove(key: string): Generator<Change<T>> {
    const before = this.#current.get(key)
    this.#current.delete(key)
    this.#marks.delete(key)
    if (before === undefined) return
    this.indexes.leave(key, this.indexes.placesOf(key, before))
    yield { type: 'deleted', key, before }
  }

  /** There are no others any more. */
  *keepOnly(keys: ReadonlySet<string>): Generator<Change<T>> {
    for (const key of this.#current.keys()) if (!keys.has(key)) yield* this.remove(key)
  }
}

/** `namespace/name`; the name alone where there is no namespace. */
export function keyOf({ namespace, name }: Place): string {
  return namespace === undefined ? name : `${namespace}/${name}`
}

function markOf({ uid, resourceVersion }: KubeObject['metadata']): Mark {
  return { uid, version: resourceVersion }
}
