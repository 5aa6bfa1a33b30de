import { formatError } from '../kit/errors.ts'
import { Metrics } from '../kit/metrics.ts'
import type { MonotonicClock } from '../kit/monotonic-clock.ts'
import { KubeClient, type KubeClientOptions } from '../kube/client.ts'
import { type ElectionResult, runElection } from '../kube/election.ts'
import { type LeaseHold, LeaseLock } from '../kube/lease-lock.ts'
import { createKubeLeaseStore } from '../kube/lease.ts'
import type { CompletedConfig } from './config.ts'
import { type HealthCheck, type HealthChecks, startHealthServer } from './health-server.ts'
import { LeaderSession } from './leader-session.ts'
import { LogLimiter } from './log-limiter.ts'
import { managerLease } from './rbac.ts'

export interface ManagerDeps {
  readonly time: MonotonicClock
  /**
   * Wall clock, for timestamps and schedules. Leader election measures durations with a monotonic clock
   * instead.
   */
  readonly now: () => Date
  /** Source of random numbers from 0 to 1, used to vary delays. */
  readonly random: () => number
  readonly log: (line: string) => void
  /** Called with the port that serves health and metrics. */
  readonly onListening?: (port: number) => void
}

/**
 * Waits for the lease and leads until the signal is aborted. After any result other than `stopped` the
 * process must exit.
 */
export async function runManager(
  { config, access, identity, settings }: CompletedConfig,
  deps: ManagerDeps,
  signal: AbortSignal,
): Promise<ElectionResult> {
  const { time, random, log } = deps
  const { election: timing } = config
  const metrics = new Metrics()
  registerProcessMetrics(metrics)
  const logLimiter = new LogLimiter(time, log)
  const session = new LeaderSession({
    ...{
      controllers: config.controllers,
      instance: identity,
      metrics,
      time,
      random,
      graceMs: timing.grace,
      log,
    },
    logLimiter,
    settings,
    now: deps.now,
    createClientAs: (as, guard, until) => createClient({ ...access, impersonate: as, guard, signal: until }),
  })
  const electionStatus = new ElectionStatus(time, timing.duration)
  const checksByPath: Readonly<Record<string, () => HealthChecks>> = {
    livez: () => pingChecks,
    readyz: () => new Map([['leader-election', electionStatus.check], ...session.informerChecks]),
    healthz: () => new Map([...pingChecks, ...session.controllerChecks]),
  }
  await using server = await startHealthServer(config.listen, {
    checks: (path) => (Object.hasOwn(checksByPath, path) ? checksByPath[path]?.() : undefined),
    metrics: () => metrics.text(),
  })
  deps.onListening?.(server.port)
  // A request that hangs must time out early enough to try another server before the renewal deadline.
  const [timeoutMs, storeTimeoutMs] = [timing.deadline / 4, timing.deadline / 2]
  using client = createClient({
    ...access,
    timing: { connectMs: timeoutMs, responseMs: timeoutMs },
    signal: new AbortController().signal,
  })
  const store = createKubeLeaseStore(client, managerLease, storeTimeoutMs)
  const lock = new LeaseLock(store, { identity, duration: timing.duration }, () => ({
    wall: deps.now(),
    monotonic: time.now(),
  }))
  metrics.gauges('leader_election_master_status', '1 if this process is the leader.', () => [
    [{ name: managerLease.name }, electionStatus.isLeader ? 1 : 0],
  ])
  const result = await runElection(
    {
      async tryAcquire(until) {
        const holding = await lock.tryAcquire(until)
        logLimiter.reset(electionSubject)
        return electionStatus.record(holding)
      },
      raise: (number) => lock.raise(number),
      release: async (until) => lock.release(until),
    },
    {
      timing,
      time,
      random,
      onLeader: (holder) => log(holder === identity ? 'is leader' : `${holder} is leader`),
      onError: (error) => logLimiter.report(electionSubject, error),
    },
    async (term) => {
      term.lost.addEventListener('abort', () => log(`LEADERSHIP_LOST: ${formatError(term.lost.reason)}`))
      await session.run(term)
    },
    signal,
  )
  const stillRunning = session.stillRunning
  if (stillRunning.length > 0) log(`did not stop in time: ${stillRunning.join(', ')}`)
  return result
}

function createClient(options: KubeClientOptions): KubeClient {
  return new KubeClient(options)
}

const electionSubject = 'leader election'

const pingChecks: HealthChecks = new Map([['ping', () => undefined]])

/** State of the leader election, for health checks and metrics. */
class ElectionStatus {
  isLeader = false
  readonly #time: MonotonicClock
  readonly #timeoutMs: number
  #lastObservedAt: number | undefined

  constructor(time: MonotonicClock, timeoutMs: number) {
    this.#time = time
    this.#timeoutMs = timeoutMs
  }

  record(holding: LeaseHold): LeaseHold {
    this.#lastObservedAt = this.#time.now()
    this.isLeader = holding.held
    return holding
  }

  readonly check: HealthCheck = () => {
    if (this.#lastObservedAt === undefined) return 'the lease was not read yet'
    const age = this.#time.now() - this.#lastObservedAt
    return age < this.#timeoutMs ? undefined : `the lease was not read for ${Math.round(age / 1000)} s`
  }
}

/** Registers process metrics under the standard Prometheus names. */
function registerProcessMetrics(metrics: Metrics): void {
  metrics.gauges('process_resident_memory_bytes', 'Resident memory of the process.', () => [
    [{}, process.memoryUsage.rss()],
  ])
  const readCpuSeconds = (): number => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  }
  metrics.gauges(
    'process_cpu_seconds_total',
    'CPU time of the process.',
    () => [[{}, readCpuSeconds()]],
    'counter',
  )
  metrics.gauges('process_start_time_seconds', 'Start time of the process.', () => [
    [{}, Math.round(Date.now() / 1000 - process.uptime())],
  ])
}
