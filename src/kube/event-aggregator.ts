import { LruCache } from '../kit/lru.ts'
import type { EventNote } from './event-note.ts'
import type { KubeObject } from './object.ts'

/** An event to write and the key of its series. Events with the same key become one event with a count. */
export interface AggregatedEvent {
  readonly key: string
  readonly note: EventNote
}

/**
 * Up to `maxTexts` events that differ only in their note are written separately per window of `windowMs`
 * milliseconds.
 */
const aggregation = { maxTexts: 10, windowMs: 600_000 }
/** Token bucket per object: up to `burst` new events at once, then one every `refillMs` milliseconds. */
const rateLimit = { burst: 25, refillMs: 300_000 }
/** Maximum number of objects or event groups to remember. */
const maxTracked = 1000

interface SimilarEvents {
  readonly since: number
  readonly texts: Set<string>
  /** The event that replaces all further events of the group. */
  combined: AggregatedEvent | undefined
}

interface TokenBucket {
  readonly tokens: number
  readonly updatedAt: number
}

/**
 * Limits the number of events, because each event is stored in etcd and many similar ones hide the others.
 */
export class EventAggregator {
  readonly #similar = new LruCache<SimilarEvents>(maxTracked)
  readonly #buckets = new LruCache<TokenBucket>(maxTracked)

  /**
   * Returns the event itself while the group has few different notes, and then one combined event. `now` is
   * in milliseconds.
   */
  aggregate(regarding: KubeObject, note: EventNote, now: number): AggregatedEvent {
    const { type, reason, action, note: text } = note
    const group = JSON.stringify([formatIdentity(regarding), type, reason, action])
    const known = this.#similar.get(group)
    const similar =
      known !== undefined && now - known.since < aggregation.windowMs
        ? known
        : { since: now, texts: new Set<string>(), combined: undefined }
    this.#similar.set(group, similar)
    const individual = { key: JSON.stringify([group, text]), note }
    if (similar.texts.has(text)) return individual
    if (similar.texts.size < aggregation.maxTexts) {
      similar.texts.add(text)
      return individual
    }
    similar.combined ??= { key: group, note: { ...note, note: `and others like it: ${text}` } }
    return similar.combined
  }

  /** Takes a token for a new event of the object. Returns false if the bucket is empty. */
  tryTakeToken(regarding: KubeObject, now: number): boolean {
    const name = formatIdentity(regarding)
    const before = this.#buckets.get(name) ?? { tokens: rateLimit.burst, updatedAt: now }
    const tokens = Math.min(rateLimit.burst, before.tokens + (now - before.updatedAt) / rateLimit.refillMs)
    const allowed = tokens >= 1
    this.#buckets.set(name, { tokens: allowed ? tokens - 1 : tokens, updatedAt: now })
    return allowed
  }
}

function formatIdentity({ kind, metadata: { namespace, name, uid } }: KubeObject): string {
  return JSON.stringify([kind, namespace, name, uid])
}
