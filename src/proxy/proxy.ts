import { setTimeout as sleep } from 'node:timers/promises'
import type { ProxyConfiguration } from '../contract/proxy-configuration.ts'
import { discoverServers, mergeMembers } from './discover-servers.ts'
import { isIdle } from './drain-decision.ts'
import { ProxyListener } from './listener.ts'
import { decideProbe, probeReadiness } from './readiness-probe.ts'
import { createServerAgents, type ProxyCertificates, type ServerAgents } from './server-requests.ts'
import { buildServerStatus, type ProxyStatus } from './status.ts'
import type { ProxyTiming } from './timing.ts'
import { type ApiServer, UpstreamPool } from './upstream-pool.ts'

export interface ProxyDeps {
  readonly timing: ProxyTiming
  /** Source of random numbers from 0 to 1, used to spread work over time. */
  readonly random: () => number
  readonly log: (line: string) => void
}

/** Configuration and certificates of the proxy, read from files on a node or given by the caller. */
export interface ProxySpec extends ProxyCertificates {
  readonly configuration: Pick<ProxyConfiguration, 'listen' | 'servers' | 'local' | 'maxConnections'>
}

const defaultMaxConnections = 10_000

/** A TCP proxy that connects each client to a healthy API server. */
export class ApiserverProxy {
  readonly #deps: ProxyDeps
  readonly #pool: UpstreamPool
  readonly #listener: ProxyListener
  #configuration: ProxySpec['configuration']
  #agents: ServerAgents | undefined
  #discovered: readonly string[]
  #timer: NodeJS.Timeout | undefined
  #isResting = false

  constructor(spec: ProxySpec, discovered: readonly string[], deps: ProxyDeps) {
    this.#deps = deps
    this.#pool = new UpstreamPool(Math.floor(deps.random() * 1000), deps.timing, deps.log)
    this.#listener = new ProxyListener(this.#pool, deps.timing, deps.random, () => this.#wake())
    this.#discovered = discovered
    this.#configuration = spec.configuration
    this.applySpec(spec)
  }

  async start(): Promise<void> {
    await this.#listener.listen(this.#configuration.listen, this.#deps.log)
    this.#schedule(this.#deps.timing.tick)
  }

  /** Applies a new configuration. Existing connections stay open. */
  applySpec(spec: ProxySpec): void {
    this.#configuration = spec.configuration
    this.#agents?.close()
    this.#agents = createServerAgents(spec, this.#deps.log)
    this.#listener.maxConnections = spec.configuration.maxConnections ?? defaultMaxConnections
    this.#setMembers()
  }

  /**
   * Reads the list of servers from a healthy server and uses the listed servers as members. Returns undefined
   * without a healthy server or a valid list.
   */
  async discover(): Promise<readonly string[] | undefined> {
    const [first] = this.#pool.order(performance.now())
    const server = first === undefined ? undefined : this.#pool.find(first)
    if (this.#agents === undefined || server?.upstream.health !== 'healthy') return undefined
    const discovered = await discoverServers(this.#agents, server.name)
    // The list must contain at least the server that sent it, so an empty list is a mistake.
    if (discovered.length === 0) return undefined
    this.#discovered = discovered
    this.#setMembers()
    return discovered
  }

  get port(): number | undefined {
    return this.#listener.port
  }

  status(): ProxyStatus {
    const { servers } = this.#pool
    const offset = Date.now() - performance.now()
    return {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'ApiserverProxyStatus',
      listening: this.#listener.listening,
      connections: servers.reduce((sum, { connections }) => sum + connections.size, 0),
      maxConnections: this.#listener.maxConnections,
      refused: this.#listener.refused,
      unserved: this.#listener.unserved,
      servers: servers.map((server) => buildServerStatus(server, this.#pool.isLocal(server.name), offset)),
    }
  }

  /** Stops accepting clients and lets existing connections finish until the stop timeout. */
  async stop(): Promise<void> {
    const { tick, stopTimeout } = this.#deps.timing
    clearTimeout(this.#timer)
    this.#isResting = false
    const closed = this.#listener.close().then(() => true)
    const deadline = performance.now() + stopTimeout
    while (performance.now() < deadline) {
      this.#eachConnection('end', performance.now())
      if (await Promise.race([closed, sleep(tick, false)])) break
    }
    this.#listener.abortDials()
    this.#eachConnection('cut', performance.now())
    this.#agents?.close()
    await closed
  }

  #setMembers(): void {
    const { servers, local } = this.#configuration
    this.#pool.setMembers(mergeMembers(servers, this.#discovered), local, performance.now())
    this.#wake()
  }

  #schedule(delayMs: number): void {
    this.#timer = setTimeout(() => {
      const { tick, probeInterval } = this.#deps.timing
      this.#tick(performance.now())
      // The next tick waits until a probe is due, because ten ticks a second would cost more processor time
      // than the probes.
      const restMs = this.#pool.findRestTime(performance.now(), probeInterval)
      this.#isResting = restMs > tick
      this.#schedule(Math.max(restMs, tick))
    }, delayMs)
  }

  /**
   * Ends a rest, which is a longer wait for the next tick. Called when a server or a connection must be
   * checked soon.
   */
  #wake(): void {
    if (!this.#isResting) return
    this.#isResting = false
    clearTimeout(this.#timer)
    this.#schedule(this.#deps.timing.tick)
  }

  #tick(now: number): void {
    for (const server of this.#pool.servers) {
      const due = decideProbe(server.upstream, server, now, this.#deps.timing)
      if (due !== undefined) void this.#probe(server, now, due.timeoutMs)
    }
    this.#pool.drainConnections(now)
  }

  async #probe(server: ApiServer, now: number, timeoutMs: number): Promise<void> {
    const agents = this.#agents
    if (agents === undefined) return
    server.lastProbeAt = now
    server.probesInFlight++
    const observation = await probeReadiness(agents, server.name, server.authenticated, timeoutMs)
    server.probesInFlight--
    // A new configuration or CA has replaced the HTTPS agents and cut this probe. Its result does not show
    // the state of the server.
    if (agents !== this.#agents) return
    // Some servers reject anonymous probes and accept probes with the proxy's certificate. The proxy changes
    // the kind of probe only after several unclear results, because a server that has just started rejects
    // both kinds.
    server.unclearCount = observation.kind === 'unclear' ? server.unclearCount + 1 : 0
    if (server.unclearCount % 5 === 4) server.authenticated = !server.authenticated
    this.#pool.observe(server.name, observation, now, performance.now())
  }

  #eachConnection(action: 'end' | 'cut', now: number): void {
    for (const connection of this.#pool.servers.flatMap(({ connections }) => [...connections])) {
      if (action === 'cut') connection.cut()
      else if (!connection.closing && isIdle(connection, now, this.#deps.timing.stopIdleAfter))
        connection.end()
    }
  }
}
