import { isDeepStrictEqual } from 'node:util'
import type { KubeObject } from '../object.ts'
import type { WatchChange } from '../watch.ts'

/** What a test wants to know of an object. */
export interface Seen {
  readonly uid: string | undefined
  readonly version: number
}

/** Something that was really done. */
export interface Deed extends Seen {
  readonly type: 'put' | 'remove'
  readonly key: string
}

export function seenOf({ metadata }: KubeObject): Seen {
  return { uid: metadata.uid, version: Number(metadata.resourceVersion) }
}

/** What was told by a watch. */
export class Told {
  readonly #changes: WatchChange<Seen>[] = []

  add(change: WatchChange<Seen>): void {
    this.#changes.push(change)
  }

  get length(): number {
    return this.#changes.length
  }

  /** All that does not fit: changes that cannot follow each other, and deeds of which nothing was told, nor of later ones. */
  wrong(deeds: readonly Deed[]): string[] {
    return [...this.#disorder(), ...this.#missing(deeds)]
  }

  #disorder(): string[] {
    const current = new Map<string, Seen>()
    return this.#changes.flatMap((change) => {
      if (change.type === 'listed') return []
      const known = current.get(change.key)
      const told = JSON.stringify(change)
      if (change.type === 'deleted') {
        current.delete(change.key)
        return known !== undefined && isDeepStrictEqual(known, change.before) ? [] : [told]
      }
      current.set(change.key, change.object)
      if (change.type === 'added') return known === undefined ? [] : [told]
      const { before, object } = change
      const follows = before.uid === object.uid && before.version < object.version
      return follows && isDeepStrictEqual(known, before) ? [] : [told]
    })
  }

  #missing(deeds: readonly Deed[]): string[] {
    const latest = new Map<string | undefined, number>()
    const deletions = new Map<string | undefined, number>()
    for (const change of this.#changes) {
      if (change.type === 'listed') continue
      if (change.type === 'deleted') {
        deletions.set(change.before.uid, (deletions.get(change.before.uid) ?? 0) + 1)
      } else latest.set(change.object.uid, change.object.version)
    }
    const removed = new Set(deeds.filter(({ type }) => type === 'remove').map(({ uid }) => uid))
    return deeds
      .filter(({ type, uid, version }) => {
        // An object whose whole life was missed is nobody's business any more.
        if (type === 'remove') return (deletions.get(uid) ?? 0) !== (latest.has(uid) ? 1 : 0)
        return !removed.has(uid) && (latest.get(uid) ?? 0) < version
      })
      .map((deed) => `nothing of ${JSON.stringify(deed)}`)
  }
}

/** Whether a view is what really is there. */
export function isSame(
  current: ReadonlyMap<string, Seen>,
  real: ReadonlyMap<string, Pick<Seen, 'version'>>,
): boolean {
  return (
    current.size === real.size &&
    [...real].every(([key, { version }]) => current.get(key)?.version === version)
  )
}
