import { setTimeout as sleep } from 'node:timers/promises'
import type { ProxyConfiguration } from '../contract/proxy-configuration.ts'
import { ask } from './readiness-probe.ts'
import { Front } from './listener.ts'
import { learn } from './discover-servers.ts'
import { members } from './members.ts'
import { askNow, usualTime } from './probe-schedule.ts'
import { isCalm } from './drain-decision.ts'
import { Pool } from './upstream-pool.ts'
import type { Server } from './api-server.ts'
import { type ProxyStatus, serverStatus } from './status.ts'
import type { Timing } from './timing.ts'
import { makeTrust, type Pems, type Trust } from './server-agents.ts'

export interface World {
  readonly timing: Timing
  /** From 0 to 1. */
  readonly random: () => number
  readonly log: (line: string) => void
}

/** What it is told: by a file on a node, or by whoever runs it. */
export interface Wish extends Pems {
  readonly configuration: Pick<ProxyConfiguration, 'listen' | 'servers' | 'local' | 'maxConnections'>
}

const usualMaximum = 10_000

/** A way to whichever API server is well. */
export class Proxy {
  readonly #world: World
  readonly #pool: Pool
  readonly #front: Front
  #configuration: Wish['configuration']
  #trust: Trust | undefined
  #learned: readonly string[]
  #ticking: NodeJS.Timeout | undefined

  constructor(wish: Wish, learned: readonly string[], world: World) {
    this.#world = world
    this.#pool = new Pool(Math.floor(world.random() * 1000), world.timing, world.log)
    this.#front = new Front(this.#pool, world.timing, world.random)
    this.#learned = learned
    this.#configuration = wish.configuration
    this.use(wish)
  }

  async start(): Promise<void> {
    await this.#front.listen(this.#configuration.listen, this.#world.log)
    this.#ticking = setInterval(() => this.#tick(performance.now()), this.#world.timing.tick)
  }

  /** From now on as this says. Connections stay. */
  use(wish: Wish): void {
    this.#configuration = wish.configuration
    this.#trust?.close()
    this.#trust = makeTrust(wish, this.#world.log)
    this.#front.maxConnections = wish.configuration.maxConnections ?? usualMaximum
    this.#setMembers()
  }

  /** The servers there are, as one that is well says; undefined while none is. */
  async learn(): Promise<readonly string[] | undefined> {
    const [first] = this.#pool.order(performance.now())
    const server = first === undefined ? undefined : this.#pool.find(first)
    if (this.#trust === undefined || server?.upstream.health !== 'well') return undefined
    const learned = await learn(this.#trust, server.name)
    // Somebody must have told us: an empty list is a mistake.
    if (learned.length === 0) return undefined
    this.#learned = learned
    this.#setMembers()
    return learned
  }

  get port(): number | undefined {
    return this.#front.port
  }

  status(): ProxyStatus {
    const { servers } = this.#pool
    const offset = Date.now() - performance.now()
    return {
      apiVersion: 'hyperkube.dev/v1',
      kind: 'ApiserverProxyStatus',
      listening: this.#front.listening,
      connections: servers.reduce((sum, { connections }) => sum + connections.size, 0),
      maxConnections: this.#front.maxConnections,
      refused: this.#front.refused,
      unserved: this.#front.unserved,
      servers: servers.map((server) => serverStatus(server, this.#pool.isLocal(server.name), offset)),
    }
  }

  /** Takes no more clients, and lets those that are there end what they are at. */
  async stop(): Promise<void> {
    const { tick, stopWithin } = this.#world.timing
    clearInterval(this.#ticking)
    const closed = this.#front.close().then(() => true)
    const late = performance.now() + stopWithin
    while (performance.now() < late) {
      this.#eachConnection('end', performance.now())
      if (await Promise.race([closed, sleep(tick, false)])) break
    }
    this.#front.abandon()
    this.#eachConnection('cut', performance.now())
    this.#trust?.close()
    await closed
  }

  #setMembers(): void {
    const { servers, local } = this.#configuration
    this.#pool.setMembers(members(servers, this.#learned), local, performance.now())
  }

  #tick(now: number): void {
    for (const server of this.#pool.servers) {
      const due = askNow(server.upstream, server, now, this.#world.timing)
      if (due !== undefined) void this.#ask(server, now, due.within)
    }
    this.#pool.part(now)
  }

  async #ask(server: Server, now: number, within: number): Promise<void> {
    const trust = this.#trust
    if (trust === undefined) return
    server.lastAsked = now
    server.asking++
    const seen = await ask(trust, server.name, server.introduced, within)
    server.asking--
    // Cut off by ourselves, when we began to trust others.
    if (trust !== this.#trust) return
    if (seen.kind === 'ready') server.took = usualTime(server.took, performance.now() - now)
    // Who does not tell everybody may tell us. Not at once: one that has just begun tells nobody.
    server.unclear = seen.kind === 'unclear' ? server.unclear + 1 : 0
    if (server.unclear % 5 === 4) server.introduced = !server.introduced
    this.#pool.observe(server.name, seen, now, performance.now())
  }

  #eachConnection(how: 'end' | 'cut', now: number): void {
    for (const connection of this.#pool.servers.flatMap(({ connections }) => [...connections])) {
      if (how === 'cut') connection.cut()
      else if (!connection.parted && isCalm(connection, now, this.#world.timing.stopCalm)) connection.end()
    }
  }
}
