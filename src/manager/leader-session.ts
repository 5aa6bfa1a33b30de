import type { ManagerSettings } from '../contract/manager-settings.ts'
import { describe } from '../kit/errors.ts'
import type { Metrics } from '../kit/metrics.ts'
import type { Time } from '../kit/monotonic-clock.ts'
import type { KubeClient } from '../kube/client.ts'
import { EventRecorder } from '../kube/events.ts'
import { type InformerState, Informers } from '../kube/informers.ts'
import { QueueMetrics } from '../kube/queue-metrics.ts'
import type { Term } from '../kube/leader-term.ts'
import { WorkQueue } from '../kube/work-queue.ts'
import type { Controller, ControllerRow } from './controller.ts'
import type { Complaints } from './log-limiter.ts'
import type { Checks } from './health-checks.ts'
import { informersUser, userOf } from './rbac.ts'

export interface OfficeOptions {
  readonly rows: readonly ControllerRow[]
  /** A client that acts as somebody, asks the guard before it sends anything, and is cut by the signal. */
  readonly clientAs: (user: string, guard: () => void, signal: AbortSignal) => KubeClient
  /** Which process this is, for events. */
  readonly instance: string
  readonly metrics: Metrics
  readonly time: Time
  readonly now: () => Date
  readonly settings: ManagerSettings
  readonly random: () => number
  /** How long what was begun may take to end, in milliseconds. */
  readonly grace: number
  readonly log: (line: string) => void
  readonly complaints: Complaints
}

interface Desk {
  readonly name: string
  readonly controller: Controller
  /** What it waits for before it begins. */
  readonly reads: ReadonlySet<InformerState>
  state: 'waiting' | 'working' | 'ended' | { readonly failed: string }
}

/** What a leader does for as long as it leads: all controllers, and what they share. For one term. */
export class Office {
  readonly #options: OfficeOptions
  readonly #queues: QueueMetrics
  #desks: readonly Desk[] = []
  #informers: Informers | undefined

  constructor(options: OfficeOptions) {
    this.#options = options
    this.#queues = new QueueMetrics(options.metrics)
    this.#measure(options.metrics)
  }

  /** All are built before anything is read, so that each hears all, and each begins once what it reads is known. */
  async run(term: Term): Promise<void> {
    const { clientAs, rows, log } = this.#options
    using cut = this.#cutLate(term)
    using clients = new DisposableStack()
    const as = (user: string): KubeClient => clients.use(clientAs(user, () => void term.fence(), cut.signal))
    const informers = new Informers(as(informersUser), {
      onTrouble: (source, error) => this.#trouble(source, error),
    })
    this.#informers = informers
    const desks = rows.map((row) => this.#desk(row, as(userOf(row)), informers, term))
    this.#desks = desks
    const reading = informers.run(term.signal)
    log(`leads, with ${desks.map(({ name }) => name).join(', ') || 'no controllers'}`)
    const working = desks.map(async (desk) => this.#work(desk, term.signal))
    // Also where there is nothing to do: who ended now would be started again and again.
    await Promise.all([ending(term.signal), reading, ...working])
  }

  /** Who has not ended. */
  get working(): string[] {
    return this.#desks.filter(({ state }) => state === 'working').map(({ name }) => name)
  }

  /** Whether each controller works. */
  get controllers(): Checks {
    return new Map(
      this.#desks.map(({ name, state }) => [
        name,
        () => (typeof state === 'object' ? state.failed : undefined),
      ]),
    )
  }

  /** Whether all that controllers read is known. */
  get informers(): Checks {
    return new Map(
      (this.#informers?.all ?? []).map(({ name, isSynced }) => [
        `informer-${name}`,
        () => (isSynced ? undefined : 'it is not known yet what there is'),
      ]),
    )
  }

  #desk(row: ControllerRow, client: KubeClient, informers: Informers, term: Term): Desk {
    const { name } = row
    const { metrics, time, now, settings, random, instance, log } = this.#options
    const dropped = metrics.counters('hyperkube_events_dropped_total', 'Events that were too many.')
    const reads = new Set<InformerState>()
    const controller = row.build({
      client,
      informer(source) {
        // Otherwise nobody could read from the table what its identity needs.
        if (!row.watches.includes(source))
          throw new Error(`${name} does not say that it watches ${source.name}`)
        const informer = informers.of(source)
        reads.add(informer)
        return informer
      },
      queue: new WorkQueue(name, { time, random, metrics: this.#queues }),
      events: new EventRecorder(client, {
        controller: `hyperkube.dev/${name}`,
        instance,
        clock: now,
        onDropped: () => dropped.add({ controller: name }),
        onTrouble: (error) => this.#trouble(`${name}: an event`, error),
      }),
      metrics,
      term,
      time,
      now,
      settings,
      log: (line) => log(`${name}: ${line}`),
    })
    return { name, controller, reads, state: 'waiting' }
  }

  async #work(desk: Desk, signal: AbortSignal): Promise<void> {
    const { log } = this.#options
    await Promise.race([Promise.all([...desk.reads].map(async ({ synced }) => synced)), ending(signal)])
    try {
      desk.state = 'working'
      if (!signal.aborted) await desk.controller.run(signal)
      if (!signal.aborted) throw new Error('it ended by itself')
      desk.state = 'ended'
    } catch (error) {
      desk.state = signal.aborted ? 'ended' : { failed: describe(error) }
      if (!signal.aborted) log(`${desk.name} does not work any more: ${describe(error)}`)
    }
  }

  /** What hangs at the end is cut, in time for the lease to be given back. */
  #cutLate({ signal, lost }: Term): Disposable & { readonly signal: AbortSignal } {
    const late = new AbortController()
    let callOff = (): void => undefined
    const wait = (): void => {
      callOff = this.#options.time.after(0.75 * this.#options.grace, () => late.abort())
    }
    signal.addEventListener('abort', wait, { once: true })
    return {
      signal: AbortSignal.any([lost, late.signal]),
      [Symbol.dispose]() {
        signal.removeEventListener('abort', wait)
        callOff()
      },
    }
  }

  #trouble(what: string, error: unknown): void {
    const troubles = 'Watches and events that had to be tried again, or were given up.'
    this.#options.metrics.counters('hyperkube_troubles_total', troubles).add({ what })
    this.#options.complaints.say(what, error)
  }

  #measure(metrics: Metrics): void {
    const all = (): readonly InformerState[] => this.#informers?.all ?? []
    metrics.gauges('hyperkube_informer_objects', 'Objects that are known.', () =>
      all().map(({ name, size }) => [{ source: name }, size]),
    )
    metrics.gauges('hyperkube_informer_synced', 'Whether all that there is is known.', () =>
      all().map(({ name, isSynced }) => [{ source: name }, isSynced ? 1 : 0]),
    )
  }
}

async function ending(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
