import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../object.ts'
import type { WatchChange } from '../watch.ts'

/** The fields of an object that the tests compare. */
export interface RecordedObject {
  readonly uid: string | undefined
  readonly version: number
}

/** A change that was made in the fake API. */
export interface ApiChange extends RecordedObject {
  readonly type: 'put' | 'remove'
  readonly key: string
}

export function toRecordedObject({ metadata }: KubeObject): RecordedObject {
  return { uid: metadata.uid, version: Number(metadata.resourceVersion) }
}

/** Records the changes that a watch reports. */
export class WatchRecorder {
  readonly #changes: WatchChange<RecordedObject>[] = []

  add(change: WatchChange<RecordedObject>): void {
    this.#changes.push(change)
  }

  get length(): number {
    return this.#changes.length
  }

  /** Lists reported changes that are out of order, and API changes that were never reported. */
  findErrors(apiChanges: readonly ApiChange[]): string[] {
    return [...this.#findDisorder(), ...this.#findMissing(apiChanges)]
  }

  #findDisorder(): string[] {
    const current = new Map<string, RecordedObject>()
    return this.#changes.flatMap((change) => {
      if (change.type === 'listed') return []
      const known = current.get(change.key)
      const text = JSON.stringify(change)
      if (change.type === 'deleted') {
        current.delete(change.key)
        return known !== undefined && isDeepStrictEqual(known, change.before) ? [] : [text]
      }
      current.set(change.key, change.object)
      if (change.type === 'added') return known === undefined ? [] : [text]
      const { before, object } = change
      const follows = before.uid === object.uid && before.version < object.version
      return follows && isDeepStrictEqual(known, before) ? [] : [text]
    })
  }

  #findMissing(apiChanges: readonly ApiChange[]): string[] {
    const latest = new Map<string | undefined, number>()
    const deletions = new Map<string | undefined, number>()
    for (const change of this.#changes) {
      if (change.type === 'listed') continue
      if (change.type === 'deleted') {
        deletions.set(change.before.uid, (deletions.get(change.before.uid) ?? 0) + 1)
      } else latest.set(change.object.uid, change.object.version)
    }
    const removed = new Set(apiChanges.filter(({ type }) => type === 'remove').map(({ uid }) => uid))
    return apiChanges
      .filter(({ type, uid, version }) => {
        // An object that was created and deleted while the watch was interrupted need not be reported.
        if (type === 'remove') return (deletions.get(uid) ?? 0) !== (latest.has(uid) ? 1 : 0)
        return !removed.has(uid) && (latest.get(uid) ?? 0) < version
      })
      .map((apiChange) => `nothing of ${JSON.stringify(apiChange)}`)
  }
}

/** True if `current` contains exactly the objects of the API, in the same versions. */
export function matchesApi(
  current: ReadonlyMap<string, RecordedObject>,
  real: ReadonlyMap<string, Pick<RecordedObject, 'version'>>,
): boolean {
  return (
    current.size === real.size &&
    [...real].every(([key, { version }]) => current.get(key)?.version === version)
  )
}
