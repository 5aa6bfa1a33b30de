import { randomBytes } from 'node:crypto'
import { Recent } from '../kit/lru.ts'
import type { KubeClient } from './client.ts'
import { EventThrift } from './event-aggregator.ts'
import { isKubeError } from './kube-error.ts'
import { microTime } from './lease.ts'
import { kindOf, type KubeObject, type Place } from './object.ts'
import type { CallOptions } from './request.ts'
import { create, merge } from './write-objects.ts'

// Not core v1: this version checks what it is given, has microseconds, and series are its own idea; both are one store.
const events = kindOf('events.k8s.io/v1', 'Event')

/** Something that people should see at an object, as `kubectl describe` shows it. */
export interface Note {
  readonly type: 'Normal' | 'Warning'
  /** Why, as a word for programs: FailedApply. */
  readonly reason: string
  /** What was done or tried, as such a word: Apply. */
  readonly action: string
  /** In a person's words. */
  readonly note: string
}

export interface EventOptions {
  /** Who speaks: hyperkube.dev/addons. */
  readonly controller: string
  /** Which process of it. */
  readonly instance: string
  readonly clock?: () => Date
  /** Is told that there were too many, and that one was left out. */
  readonly onDropped?: () => void
  /** Is told what could not be written; nobody's work depends on it. */
  readonly onTrouble?: (error: unknown) => void
}

interface Series {
  readonly place: Required<Place>
  count: number
  /** When it was last said, and when that was last written. */
  said: number
  written: number
}

/** A pause longer than this ends a series: what comes then is news. */
const together = 6 * 60_000
/** While it goes on, its count is written only so often. */
const every = 60_000
/** So many series are remembered. */
const most = 1000
/** So many may be on their way to the API at once. */
const crowd = 100

/** Writes events: what is said again and again is one of them, with a count, and what is said of one object is not too much. */
export class EventRecorder {
  readonly #client: KubeClient
  readonly #options: EventOptions
  readonly #clock: () => Date
  readonly #thrift = new EventThrift()
  readonly #series = new Recent<Series>(most)
  #writing = 0

  constructor(client: KubeClient, options: EventOptions) {
    this.#client = client
    this.#options = options
    this.#clock = options.clock ?? ((): Date => new Date())
  }

  /** Never fails. */
  async record(regarding: KubeObject, wish: Note, options: CallOptions = {}): Promise<void> {
    const now = this.#clock().getTime()
    const { key, note } = this.#thrift.saying(regarding, wish, now)
    const series = this.#series.get(key)
    const isNews = series === undefined || now - series.said > together
    if (this.#writing >= crowd) return this.#options.onDropped?.()
    this.#writing++
    try {
      // Without a wait in between: who says the same meanwhile, must not begin another series.
      const counted = !isNews && (await this.#count(series, options))
      if (counted) return
      if (this.#thrift.mayBegin(regarding, now)) await this.#begin(key, regarding, note, options)
      else this.#options.onDropped?.()
    } catch (error) {
      this.#options.onTrouble?.(error)
    } finally {
      this.#writing--
    }
  }

  /** Whether it is still there. */
  async #count(series: Series, options: CallOptions): Promise<boolean> {
    const now = this.#clock()
    series.count++
    series.said = now.getTime()
    if (series.count > 2 && now.getTime() - series.written < every) return true
    series.written = now.getTime()
    const patch = { series: { count: series.count, lastObservedTime: microTime(now) } }
    return merge(this.#client, events, series.place, patch, options).then(
      () => true,
      (error: unknown) => {
        // Servers keep events for an hour only.
        if (isKubeError(error, 'KUBE_NOT_FOUND')) return false
        throw error
      },
    )
  }

  async #begin(key: string, regarding: KubeObject, note: Note, options: CallOptions): Promise<void> {
    const { controller, instance } = this.#options
    const { apiVersion, kind, metadata } = regarding
    const { name, uid, resourceVersion } = metadata
    const now = this.#clock()
    // Those about objects of the whole cluster are here.
    const namespace = metadata.namespace ?? 'default'
    const place = { namespace, name: nameFor(regarding) }
    this.#series.set(key, { place, count: 1, said: now.getTime(), written: now.getTime() })
    const event = {
      apiVersion: events.apiVersion,
      kind: events.kind,
      metadata: place,
      eventTime: microTime(now),
      reportingController: controller,
      reportingInstance: clipped(instance, 128),
      regarding: { apiVersion, kind, name, namespace: metadata.namespace, uid, resourceVersion },
      ...note,
      note: clipped(note.note, 1024),
    }
    try {
      await create(this.#client, event, options)
    } catch (error) {
      this.#series.delete(key)
      throw error
    }
  }
}

/** Names of roles and the like may have what those of events may not. */
function nameFor({ kind, metadata: { name } }: KubeObject): string {
  const fits = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(name) && name.length < 230
  return `${fits ? name : kind.toLowerCase()}.${randomBytes(8).toString('hex')}`
}

/** The API counts bytes. */
function clipped(text: string, bytes: number): string {
  const whole = Buffer.from(text)
  if (whole.length <= bytes) return text
  // The end may be half a character, and its replacement has three bytes.
  const half = whole.subarray(0, bytes - 3).toString('utf8')
  return `${half.replace(/\uFFFD$/, '')}…`
}
