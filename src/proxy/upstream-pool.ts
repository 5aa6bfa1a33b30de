import { formatDuration } from '../kit/time-format.ts'
import type { ClientConnection } from './client-connection.ts'
import { type ConnectionActivity, decideDrain, type DrainDecision } from './drain-decision.ts'
import type { ProbeState } from './readiness-probe.ts'
import type { ProxyTiming } from './timing.ts'
import {
  applyObservation,
  createUpstream,
  findRestartDeadline,
  orderUpstreams,
  type Upstream,
  type UpstreamObservation,
} from './upstreams.ts'

/** Holds the state of all servers. Pure functions in other modules make the decisions. */
export class UpstreamPool {
  readonly #servers = new Map<string, ApiServer>()
  readonly #timing: ProxyTiming
  readonly #log: (line: string) => void
  readonly #responseListeners = new Set<() => void>()
  #local: string | undefined
  #turn: number

  /**
   * `turn` selects the first server. The caller passes a random number, so nodes do not all start with the
   * same server.
   */
  constructor(turn: number, timing: ProxyTiming, log: (line: string) => void) {
    this.#turn = turn
    this.#timing = timing
    this.#log = log
  }

  get servers(): readonly ApiServer[] {
    return [...this.#servers.values()]
  }

  find(name: string): ApiServer | undefined {
    return this.#servers.get(name)
  }

  /** Finds a server. A server that is no longer in the pool is added again as retired. */
  findOrAdd(name: string, now: number): ApiServer {
    const server = this.#servers.get(name) ?? new ApiServer(name, now)
    if (!this.#servers.has(name)) server.retiredSince = now
    this.#servers.set(name, server)
    return server
  }

  isLocal(name: string): boolean {
    return name === this.#local
  }

  /**
   * Sets the members: the servers that may get new connections. Connections to other servers stay open until
   * they can be drained.
   */
  setMembers(names: readonly string[], local: string | undefined, now: number): void {
    this.#local = local
    for (const name of names) {
      const known = this.#servers.get(name)
      if (known === undefined) this.#servers.set(name, new ApiServer(name, now))
      else known.retiredSince = undefined
    }
    for (const server of this.#servers.values()) {
      if (!names.includes(server.name)) server.retiredSince ??= now
    }
    this.#dropUnused()
  }

  /** Lists the servers to try for a new connection, best first. */
  order(now: number): readonly string[] {
    const candidates = this.servers
      .filter(({ retiredSince }) => retiredSince === undefined)
      .map(({ name, upstream }) => ({ server: name, upstream, local: this.isLocal(name) }))
    return orderUpstreams(candidates, this.#turn++, now, this.#timing.settleTime)
  }

  /** Returns the time until which new connections wait for a server that is probably restarting. */
  findRestartDeadline(): number {
    const members = this.servers.filter(({ retiredSince }) => retiredSince === undefined)
    return findRestartDeadline(
      members.map(({ upstream }) => upstream),
      this.#timing.restartTime,
    )
  }

  /** Calls the listener once, at the next response of a server. Returns a function that removes the listener. */
  onceResponding(listener: () => void): () => void {
    this.#responseListeners.add(listener)
    return () => this.#responseListeners.delete(listener)
  }

  observe(name: string, observation: UpstreamObservation, startedAt: number, now: number): void {
    const server = this.#servers.get(name)
    if (server === undefined) return
    const before = server.upstream
    server.upstream = applyObservation(before, observation, startedAt, now)
    if (observation.kind === 'ready') server.lastReadyProbeAt = Math.max(server.lastReadyProbeAt, startedAt)
    if (observation.kind === 'ready' || observation.kind === 'unclear') this.#notifyResponse()
    if (server.upstream.health === before.health) return
    const { health, reason } = server.upstream
    const previousHealth = `after ${formatDuration(now - before.since)} of being ${before.health}`
    this.#log(`${name} is ${health} ${previousHealth}${reason === undefined ? '' : `: ${reason}`}`)
  }

  /** Records that the server did not accept a connection. */
  recordMiss(name: string, observation: UpstreamObservation, startedAt: number, now: number): void {
    const server = this.#servers.get(name)
    if (server !== undefined) server.totals.misses++
    this.observe(name, observation, startedAt, now)
  }

  /** Records that the server was so slow to accept that another server was tried in parallel. */
  recordSlow(name: string, startedAt: number): void {
    const server = this.#servers.get(name)
    if (server !== undefined) server.lastSlowDialAt = startedAt
  }

  /** Ends or cuts connections that should move to another server. */
  drainConnections(now: number): void {
    for (const server of this.#servers.values()) {
      const { upstream, retiredSince, connections } = server
      if (connections.size === 0 || (upstream.health !== 'unhealthy' && retiredSince === undefined)) continue
      const others = this.servers.filter((one) => one !== server && one.retiredSince === undefined)
      const input = { upstream, retiredSince, others: others.map((one) => one.upstream) }
      for (const connection of connections) {
        if (connection.closing) continue
        const decision = decideDrain(connection, input, now, this.#timing)
        if (decision === 'stay') continue
        server.totals[counterByDecision[decision]] += 1
        connection[decision]()
      }
    }
    this.#dropUnused()
  }

  /**
   * Returns the milliseconds until the next probe is due. Returns 0 if a server fails, has a probe in flight,
   * is retired or lets a client wait. Such a server must be checked at every tick.
   */
  findRestTime(now: number, probeIntervalMs: number): number {
    const times = this.servers.map((server) => {
      const { upstream, lastProbeAt, probesInFlight, retiredSince, waitingSince } = server
      const isQuiet =
        upstream.failures === 0 &&
        probesInFlight === 0 &&
        retiredSince === undefined &&
        waitingSince === undefined
      return isQuiet && lastProbeAt !== undefined ? lastProbeAt + probeIntervalMs - now : 0
    })
    return Math.max(0, Math.min(...times))
  }

  #notifyResponse(): void {
    const listeners = [...this.#responseListeners]
    this.#responseListeners.clear()
    for (const listener of listeners) listener()
  }

  #dropUnused(): void {
    for (const { name, retiredSince, connections } of this.#servers.values()) {
      if (retiredSince !== undefined && connections.size === 0) this.#servers.delete(name)
    }
  }
}

const counterByDecision = { end: 'ended', cut: 'cut' } as const satisfies Record<
  Exclude<DrainDecision, 'stay'>,
  string
>

/** One API server: its health, its probes and its connections. */
export class ApiServer implements ProbeState {
  readonly name: string
  upstream: Upstream
  retiredSince: number | undefined = undefined
  lastProbeAt: number | undefined = undefined
  probesInFlight = 0
  /**
   * Start times of the last successful probe and of the last slow connection attempt. -Infinity means that
   * none happened yet.
   */
  lastReadyProbeAt = -Infinity
  lastSlowDialAt = -Infinity
  /**
   * `unclearCount` counts inconclusive probes in a row. `authenticated` is true if probes send the proxy's
   * client certificate.
   */
  unclearCount = 0
  authenticated = false
  readonly connections = new Set<ClientConnection>()
  readonly totals = { connections: 0, misses: 0, ended: 0, cut: 0, sent: 0, received: 0 }

  constructor(name: string, now: number) {
    this.name = name
    this.upstream = createUpstream(now)
  }

  get waitingSince(): number | undefined {
    return findWaitingSince(this.connections, this.lastSlowDialAt, this.lastReadyProbeAt)
  }
}

/**
 * Returns the time since which a client or a connection attempt waits for data from the server; undefined if
 * neither waits. A successful probe clears all earlier waits: some client messages need no response and must
 * not cause urgent probes forever.
 */
export function findWaitingSince(
  connections: Iterable<Pick<ConnectionActivity, 'clientSentAt' | 'serverSentAt'>>,
  lastSlowDialAt: number,
  lastReadyProbeAt: number,
): number | undefined {
  let firstWait = lastSlowDialAt > lastReadyProbeAt ? lastSlowDialAt : Infinity
  let lastReceived = -Infinity
  for (const { clientSentAt, serverSentAt } of connections) {
    lastReceived = Math.max(lastReceived, serverSentAt)
    if (clientSentAt > serverSentAt && clientSentAt > lastReadyProbeAt)
      firstWait = Math.min(firstWait, clientSentAt)
  }
  return firstWait === Infinity ? undefined : Math.max(firstWait, lastReceived)
}
