import { randomBytes } from 'node:crypto'
import { LruCache } from '../kit/collections.ts'
import type { KubeClient } from './client.ts'
import { isKubeError } from './kube-error.ts'
import { formatMicroTime } from './lease.ts'
import { createUntypedKind, type KubeObject, type NamespacedName } from './object.ts'
import type { KubeCallOptions } from './request.ts'
import { createObject, patchObject } from './write-objects.ts'

// events.k8s.io/v1 validates its input, has microsecond times and supports series. Clients of core v1 see the
// same objects.
const events = createUntypedKind('events.k8s.io/v1', 'Event')

export interface EventRecorderOptions {
  /** Name of the reporting controller, for example hyperkube.dev/addons. */
  readonly controller: string
  /** Identity of the controller's process. */
  readonly instance: string
  readonly clock?: () => Date
  /** Called when an event is dropped because too many events were recorded. */
  readonly onDropped?: () => void
  /** Called when writing an event fails. The caller of `record` does not get the error. */
  readonly onError?: (error: unknown) => void
}

/** Content of an event about an object, as shown by `kubectl describe`. */
export interface EventNote {
  readonly type: 'Normal' | 'Warning'
  /** Machine-readable cause in CamelCase, for example FailedApply. */
  readonly reason: string
  /** The action that was done or tried, in CamelCase, for example Apply. */
  readonly action: string
  /** Message for people. */
  readonly note: string
}

interface Series {
  readonly ref: Required<NamespacedName>
  count: number
  /**
   * Time of the last occurrence, in milliseconds since 1970. `lastWritten` is the time of the last write to
   * the API.
   */
  lastObserved: number
  lastWritten: number
}

/** If an event does not occur for longer than this, its series ends. The next occurrence is a new event. */
const seriesGapMs = 6 * 60_000

/** Minimum interval between two writes of a series count. */
const writeIntervalMs = 60_000

const maxSeries = 1000

const maxConcurrentWrites = 100

/**
 * Writes events. Repeated events become one event with a count, and the number of events per object is
 * limited.
 */
export class EventRecorder {
  readonly #client: KubeClient
  readonly #options: EventRecorderOptions
  readonly #clock: () => Date
  readonly #aggregator = new EventAggregator()
  readonly #series = new LruCache<Series>(maxSeries)
  #writing = 0

  constructor(client: KubeClient, options: EventRecorderOptions) {
    this.#client = client
    this.#options = options
    this.#clock = options.clock ?? ((): Date => new Date())
  }

  /** Records an event about an object. Never throws; errors are passed to `onError`. */
  async record(regarding: KubeObject, requested: EventNote, options: KubeCallOptions = {}): Promise<void> {
    const now = this.#clock().getTime()
    const { key, note } = this.#aggregator.aggregate(regarding, requested, now)
    const series = this.#series.get(key)
    const isNew = series === undefined || now - series.lastObserved > seriesGapMs
    if (this.#writing >= maxConcurrentWrites) return this.#options.onDropped?.()
    this.#writing++
    try {
      // There is no await before this point. Otherwise a concurrent call with the same event could start a
      // second series.
      const counted = !isNew && (await this.#incrementSeries(series, options))
      if (counted) return
      if (this.#aggregator.tryTakeToken(regarding, now))
        await this.#createEvent(key, regarding, note, options)
      else this.#options.onDropped?.()
    } catch (error) {
      this.#options.onError?.(error)
    } finally {
      this.#writing--
    }
  }

  /** Increments the count of a series. Returns false if the event no longer exists. */
  async #incrementSeries(series: Series, options: KubeCallOptions): Promise<boolean> {
    const now = this.#clock()
    series.count++
    series.lastObserved = now.getTime()
    if (series.count > 2 && now.getTime() - series.lastWritten < writeIntervalMs) return true
    series.lastWritten = now.getTime()
    const patch = { series: { count: series.count, lastObservedTime: formatMicroTime(now) } }
    return patchObject(this.#client, events, series.ref, patch, options).then(
      () => true,
      (error: unknown) => {
        // API servers delete events after one hour.
        if (isKubeError(error, 'KUBE_NOT_FOUND')) return false
        throw error
      },
    )
  }

  async #createEvent(
    key: string,
    regarding: KubeObject,
    note: EventNote,
    options: KubeCallOptions,
  ): Promise<void> {
    const { controller, instance } = this.#options
    const { apiVersion, kind, metadata } = regarding
    const { name, uid, resourceVersion } = metadata
    const now = this.#clock()
    // Events about cluster-scoped objects are stored in the namespace default.
    const namespace = metadata.namespace ?? 'default'
    const ref = { namespace, name: buildEventName(regarding) }
    this.#series.set(key, { ref, count: 1, lastObserved: now.getTime(), lastWritten: now.getTime() })
    const event = {
      apiVersion: events.apiVersion,
      kind: events.kind,
      metadata: ref,
      eventTime: formatMicroTime(now),
      reportingController: controller,
      reportingInstance: truncateBytes(instance, 128),
      regarding: { apiVersion, kind, name, namespace: metadata.namespace, uid, resourceVersion },
      ...note,
      note: truncateBytes(note.note, 1024),
    }
    try {
      await createObject(this.#client, event, options)
    } catch (error) {
      this.#series.delete(key)
      throw error
    }
  }
}

/**
 * Builds an event name. Some object names, for example of roles, contain characters that event names must not
 * contain.
 */
function buildEventName({ kind, metadata: { name } }: KubeObject): string {
  const fits = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) && name.length < 230
  return `${fits ? name : kind.toLowerCase()}.${randomBytes(8).toString('hex')}`
}

/** Truncates a text to a number of bytes, because the API limits bytes and not characters. */
function truncateBytes(text: string, bytes: number): string {
  const whole = Buffer.from(text)
  if (whole.length <= bytes) return text
  // The cut may split a character, which decodes to U+FFFD and is removed. The appended ellipsis takes three
  // bytes.
  const truncated = whole.subarray(0, bytes - 3).toString('utf8')
  return `${truncated.replace(/\uFFFD$/, '')}…`
}

/** An event to write and the key of its series. Events with the same key become one event with a count. */
interface AggregatedEvent {
  readonly key: string
  readonly note: EventNote
}

/**
 * Within `windowMs` milliseconds, up to `maxTexts` events that differ only in their note are written
 * separately. Further events are combined.
 */
const aggregation = { maxTexts: 10, windowMs: 600_000 }

/** Token bucket per object: up to `burst` new events at once, then one every `refillMs` milliseconds. */
const rateLimit = { burst: 25, refillMs: 300_000 }

/** Maximum number of objects, and of event groups, that are remembered. */
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
 * Limits the number of events, because each event is stored in etcd and many similar events would hide other
 * events.
 */
class EventAggregator {
  readonly #similar = new LruCache<SimilarEvents>(maxTracked)
  readonly #buckets = new LruCache<TokenBucket>(maxTracked)

  /**
   * Returns the event unchanged until too many events differ only in their note. Then returns one combined
   * event for all of them. `now` is in milliseconds.
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
    similar.combined ??= { key: group, note: { ...note, note: `combined from similar events: ${text}` } }
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
