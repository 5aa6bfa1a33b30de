import type { ManagerSettings } from '../contract/manager-settings.ts'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import type { Metrics } from '../kit/metrics.ts'
import type { MonotonicClock } from '../kit/monotonic-clock.ts'
import type { KubeClient } from '../kube/client.ts'
import { EventRecorder } from '../kube/events.ts'
import { Informers, type InformerState } from '../kube/informers.ts'
import type { LeaderTerm } from '../kube/leader-term.ts'
import { QueueMetrics } from '../kube/queue-metrics.ts'
import { WorkQueue } from '../kube/work-queue.ts'
import type { Controller, ControllerDefinition } from './controller.ts'
import type { HealthChecks } from './health-server.ts'
import type { LogLimiter } from './log-limiter.ts'
import { formatControllerUser, informersUser } from './rbac.ts'

export interface LeaderSessionOptions {
  readonly controllers: readonly ControllerDefinition[]
  /**
   * Creates a client that impersonates a user. The client calls the guard before every request and is aborted
   * by the signal.
   */
  readonly createClientAs: (user: string, guard: () => void, signal: AbortSignal) => KubeClient
  /** Identity of this process, shown in events. */
  readonly instance: string
  readonly metrics: Metrics
  readonly time: MonotonicClock
  readonly now: () => Date
  readonly settings: ManagerSettings
  readonly random: () => number
  /** Maximum time in milliseconds for controllers to stop. */
  readonly graceMs: number
  readonly log: (line: string) => void
  readonly logLimiter: LogLimiter
}

interface RunningController {
  readonly name: string
  readonly controller: Controller
  /** Informers that must be synced before the controller starts. */
  readonly informers: ReadonlySet<InformerState>
  state: 'waiting' | 'working' | 'ended' | { readonly failed: string }
}

/** Runs all controllers and their shared informers during one leader term. */
export class LeaderSession {
  readonly #options: LeaderSessionOptions
  readonly #queues: QueueMetrics
  #running: readonly RunningController[] = []
  #informers: Informers | undefined

  constructor(options: LeaderSessionOptions) {
    this.#options = options
    this.#queues = new QueueMetrics(options.metrics)
    this.#registerMetrics(options.metrics)
  }

  /**
   * Runs the controllers until the term ends. All controllers are built before the informers start, so they
   * receive all events. Each controller starts when its informers are synced. A controller that fails ends
   * the session with an error: the process exits and is restarted, which probes and alerts notice.
   */
  async run(term: LeaderTerm): Promise<void> {
    const { createClientAs, controllers, log } = this.#options
    using abortLate = this.#abortLate(term)
    using clients = new DisposableStack()
    const createClient = (user: string): KubeClient =>
      clients.use(createClientAs(user, () => void term.fence(), abortLate.signal))
    const informers = new Informers(createClient(informersUser), {
      onError: (source, error) => this.#reportError(source, error),
    })
    this.#informers = informers
    const runningControllers = controllers.map((definition) =>
      this.#buildController(definition, createClient(formatControllerUser(definition)), informers, term),
    )
    this.#running = runningControllers
    const failure = new AbortController()
    const signal = AbortSignal.any([term.signal, failure.signal])
    const informersRun = informers.run(signal)
    log(`is leader, running ${runningControllers.map(({ name }) => name).join(', ') || 'no controllers'}`)
    const controllerRuns = runningControllers.map(async (running) =>
      this.#runController(running, signal, failure),
    )
    // The session also waits for the end of the term if there are no controllers. Otherwise the process would
    // end and be restarted in a loop.
    const allRuns = Promise.all([waitForAbort(signal), informersRun, ...controllerRuns])
    // After a failure, a controller that does not stop must not delay the end of the process.
    await Promise.race([allRuns, this.#waitForGrace(failure.signal)])
    if (!term.signal.aborted) failure.signal.throwIfAborted()
  }

  /** Resolves when the grace period of the controllers has passed after the signal. */
  async #waitForGrace(signal: AbortSignal): Promise<void> {
    const { time, graceMs } = this.#options
    await waitForAbort(signal)
    await new Promise<void>((resolve) => void time.after(graceMs, () => resolve()))
  }

  /** Names of controllers that are still running. */
  get stillRunning(): string[] {
    return this.#running.filter(({ state }) => state === 'working').map(({ name }) => name)
  }

  /** One health check per controller, which fails if the controller has failed. */
  get controllerChecks(): HealthChecks {
    return new Map(
      this.#running.map(({ name, state }) => [
        name,
        () => (typeof state === 'object' ? state.failed : undefined),
      ]),
    )
  }

  /** One health check per informer, which fails until the informer is synced. */
  get informerChecks(): HealthChecks {
    return new Map(
      (this.#informers?.all ?? []).map(({ name, isSynced }) => [
        `informer-${name}`,
        () => (isSynced ? undefined : 'the initial list is not complete'),
      ]),
    )
  }

  #buildController(
    definition: ControllerDefinition,
    client: KubeClient,
    informers: Informers,
    term: LeaderTerm,
  ): RunningController {
    const { name } = definition
    const { metrics, time, now, settings, random, instance, log } = this.#options
    const dropped = metrics.counters('hyperkube_events_dropped_total', 'Events dropped by the rate limit.')
    const ownInformers = new Set<InformerState>()
    const controller = definition.build({
      client,
      getInformer(source) {
        // RBAC rules are derived from `watches`, so a controller may only use informers that it lists there.
        if (!definition.watches.includes(source))
          throw new Error(`${name} does not list ${source.name} among its watches`)
        const informer = informers.getInformer(source)
        ownInformers.add(informer)
        return informer
      },
      queue: new WorkQueue(name, { time, random, metrics: this.#queues }),
      events: new EventRecorder(client, {
        controller: `hyperkube.dev/${name}`,
        instance,
        clock: now,
        onDropped: () => dropped.add({ controller: name }),
        onError: (error) => this.#reportError(`${name}: an event`, error),
      }),
      metrics,
      term,
      time,
      now,
      settings,
      log: (line) => log(`${name}: ${line}`),
    })
    return { name, controller, informers: ownInformers, state: 'waiting' }
  }

  async #runController(
    running: RunningController,
    signal: AbortSignal,
    failure: AbortController,
  ): Promise<void> {
    await Promise.race([
      Promise.all([...running.informers].map(async ({ synced }) => synced)),
      waitForAbort(signal),
    ])
    try {
      running.state = 'working'
      if (!signal.aborted) await running.controller.run(signal)
      if (!signal.aborted) throw new Error('it ended without an error')
      running.state = 'ended'
    } catch (error) {
      running.state = signal.aborted ? 'ended' : { failed: formatError(error) }
      if (!signal.aborted) failure.abort(buildFailure(running.name, error))
    }
  }

  /**
   * Returns the abort signal for requests. The signal aborts when the lease is lost, or after 75% of the
   * grace period that follows the end of the term. Hanging requests then end in time to release the lease.
   */
  #abortLate({ signal, lost }: LeaderTerm): Disposable & { readonly signal: AbortSignal } {
    const late = new AbortController()
    let cancelTimer = (): void => undefined
    const startTimer = (): void => {
      cancelTimer = this.#options.time.after(0.75 * this.#options.graceMs, () => late.abort())
    }
    signal.addEventListener('abort', startTimer, { once: true })
    return {
      signal: AbortSignal.any([lost, late.signal]),
      [Symbol.dispose]() {
        signal.removeEventListener('abort', startTimer)
        cancelTimer()
      },
    }
  }

  #reportError(subject: string, error: unknown): void {
    const help = 'Errors of watches and events.'
    this.#options.metrics.counters('hyperkube_manager_errors_total', help).add({ what: subject })
    this.#options.logLimiter.report(subject, error)
  }

  #registerMetrics(metrics: Metrics): void {
    const all = (): readonly InformerState[] => this.#informers?.all ?? []
    metrics.gauges('hyperkube_informer_objects', 'Objects in the informer.', () =>
      all().map(({ name, size }) => [{ source: name }, size]),
    )
    metrics.gauges('hyperkube_informer_synced', 'Whether the informer has listed all objects.', () =>
      all().map(({ name, isSynced }) => [{ source: name }, isSynced ? 1 : 0]),
    )
  }
}

function buildFailure(controller: string, cause: unknown): HyperkubeError {
  return new HyperkubeError('MANAGER_CONTROLLER_FAILED', `the controller ${controller} failed`, {
    cause,
    hint: 'on the host: journalctl -u hyperkube-controller-manager; to run the others without it, remove it from spec.manager.controllers',
  })
}

async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
