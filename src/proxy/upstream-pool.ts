import { duration } from '../kit/duration.ts'
import { order } from './order-upstreams.ts'
import { type Parting, parting } from './drain-decision.ts'
import { Server } from './api-server.ts'
import type { Timing } from './timing.ts'
import { type Observation, observe } from './upstreams.ts'

/** The servers there are. Decisions are made elsewhere, by functions; here is what they are made from. */
export class Pool {
  readonly #servers = new Map<string, Server>()
  readonly #timing: Timing
  readonly #log: (line: string) => void
  #local: string | undefined
  #turn: number

  /** `turn` is who comes first: another one on each node, or all would begin with the same. */
  constructor(turn: number, timing: Timing, log: (line: string) => void) {
    this.#turn = turn
    this.#timing = timing
    this.#log = log
  }

  get servers(): readonly Server[] {
    return [...this.#servers.values()]
  }

  find(name: string): Server | undefined {
    return this.#servers.get(name)
  }

  /** The same, also if nobody has named it any longer since it was chosen. */
  adopt(name: string, now: number): Server {
    const server = this.#servers.get(name) ?? new Server(name, now)
    if (!this.#servers.has(name)) server.retiredSince = now
    this.#servers.set(name, server)
    return server
  }

  isLocal(name: string): boolean {
    return name === this.#local
  }

  /** From now on these may be tried, and no others. Connections to others stay until they can go. */
  setMembers(names: readonly string[], local: string | undefined, now: number): void {
    this.#local = local
    for (const name of names) {
      const known = this.#servers.get(name)
      if (known === undefined) this.#servers.set(name, new Server(name, now))
      else known.retiredSince = undefined
    }
    for (const server of this.#servers.values()) {
      if (!names.includes(server.name)) server.retiredSince ??= now
    }
    this.#forget()
  }

  /** Whom to try for a new connection, in this order. */
  order(now: number): readonly string[] {
    const candidates = this.servers
      .filter(({ retiredSince }) => retiredSince === undefined)
      .map(({ name, upstream }) => ({ server: name, upstream, local: this.isLocal(name) }))
    return order(candidates, this.#turn++, now, this.#timing.settle)
  }

  observe(name: string, seen: Observation, askedAt: number, now: number): void {
    const server = this.#servers.get(name)
    if (server === undefined) return
    const before = server.upstream
    server.upstream = observe(before, seen, askedAt, now)
    if (seen.kind === 'ready') server.answeredAt = Math.max(server.answeredAt, askedAt)
    if (server.upstream.health === before.health) return
    const { health, reason } = server.upstream
    const was = `after ${duration(now - before.since)} of being ${before.health}`
    this.#log(`${name} is ${health} ${was}${reason === undefined ? '' : `: ${reason}`}`)
  }

  /** It did not accept a connection. */
  miss(name: string, seen: Observation, askedAt: number, now: number): void {
    const server = this.#servers.get(name)
    if (server !== undefined) server.totals.misses++
    this.observe(name, seen, askedAt, now)
  }

  /** It has not accepted a connection yet, and another was tried beside it. */
  doubt(name: string, askedAt: number): void {
    const server = this.#servers.get(name)
    if (server !== undefined) server.doubtedAt = askedAt
  }

  /** Sends those connections away that are with the wrong server. */
  part(now: number): void {
    for (const server of this.#servers.values()) {
      const { upstream, retiredSince, connections } = server
      if (connections.size === 0 || (upstream.health !== 'unwell' && retiredSince === undefined)) continue
      const others = this.servers.filter((one) => one !== server && one.retiredSince === undefined)
      const situation = { upstream, retiredSince, others: others.map((one) => one.upstream) }
      for (const connection of connections) {
        if (connection.parted) continue
        const what = parting(connection, situation, now, this.#timing)
        if (what === 'stay') continue
        server.totals[counted[what]] += 1
        connection[what]()
      }
    }
    this.#forget()
  }

  #forget(): void {
    for (const { name, retiredSince, connections } of this.#servers.values()) {
      if (retiredSince !== undefined && connections.size === 0) this.#servers.delete(name)
    }
  }
}

const counted = { end: 'ended', cut: 'cut' } as const satisfies Record<Exclude<Parting, 'stay'>, string>
