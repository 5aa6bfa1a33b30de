import { Recent } from '../kit/lru.ts'
import type { Note } from './events.ts'
import type { KubeObject } from './object.ts'

/** What is said of an object, and what it is counted under: what has the same key is one event. */
export interface Saying {
  readonly key: string
  readonly note: Note
}

/** Of those that differ in their words alone, so many are told one by one, within so many milliseconds. */
const alike = { most: 10, within: 600_000 }
/** An object may have so many new events at once, and then one in so many milliseconds. */
const share = { most: 25, every: 300_000 }
/** So many of each are remembered. */
const most = 1000

interface Alike {
  readonly since: number
  readonly words: Set<string>
  /** What stands for all further ones. */
  combined: Saying | undefined
}

interface Share {
  readonly left: number
  readonly at: number
}

/** Keeps events few: the API keeps each of them in etcd, and who reads a hundred alike reads none. */
export class EventThrift {
  readonly #alike = new Recent<Alike>(most)
  readonly #shares = new Recent<Share>(most)

  /** As it is, as long as there are few like it; then one that stands for all of them. `now` is in milliseconds. */
  saying(regarding: KubeObject, note: Note, now: number): Saying {
    const { type, reason, action, note: words } = note
    const group = JSON.stringify([nameOf(regarding), type, reason, action])
    const known = this.#alike.get(group)
    const some =
      known !== undefined && now - known.since < alike.within
        ? known
        : { since: now, words: new Set<string>(), combined: undefined }
    this.#alike.set(group, some)
    const own = { key: JSON.stringify([group, words]), note }
    if (some.words.has(words)) return own
    if (some.words.size < alike.most) {
      some.words.add(words)
      return own
    }
    some.combined ??= { key: group, note: { ...note, note: `and others like it: ${words}` } }
    return some.combined
  }

  /** Whether the object may have another new event. Asking takes it. */
  mayBegin(regarding: KubeObject, now: number): boolean {
    const name = nameOf(regarding)
    const before = this.#shares.get(name) ?? { left: share.most, at: now }
    const left = Math.min(share.most, before.left + (now - before.at) / share.every)
    const may = left >= 1
    this.#shares.set(name, { left: may ? left - 1 : left, at: now })
    return may
  }
}

function nameOf({ kind, metadata: { namespace, name, uid } }: KubeObject): string {
  return JSON.stringify([kind, namespace, name, uid])
}
