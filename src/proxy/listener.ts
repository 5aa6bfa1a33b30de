import { createServer, type Server as Listener, type Socket } from 'node:net'
import { HyperkubeError } from '../kit/errors.ts'
import { parseAddress } from './address.ts'
import { Connection } from './proxied-connection.ts'
import { dial, type DialListeners, lively } from './dial.ts'
import { Greeting, type Outcome } from './handshake.ts'
import type { Pool } from './upstream-pool.ts'
import type { Server } from './api-server.ts'
import type { Timing } from './timing.ts'

/** Where clients come in. */
export class Front {
  refused = 0
  unserved = 0
  readonly #listener: Listener
  readonly #pool: Pool
  readonly #timing: Timing
  readonly #random: () => number
  readonly #closing = new AbortController()

  constructor(pool: Pool, timing: Timing, random: () => number) {
    this.#pool = pool
    this.#timing = timing
    this.#random = random
    // Until a server is found, what a client says waits in the kernel: so much there is room for, and no more.
    this.#listener = createServer({ pauseOnConnect: true, allowHalfOpen: true, ...lively }, (client) => {
      void this.#serve(client)
    })
    this.#listener.on('drop', () => this.refused++)
  }

  get listening(): boolean {
    return this.#listener.listening
  }

  /** The port that it got. */
  get port(): number | undefined {
    const address = this.#listener.address()
    return address !== null && typeof address === 'object' ? address.port : undefined
  }

  get maxConnections(): number {
    return this.#listener.maxConnections
  }

  set maxConnections(most: number) {
    this.#listener.maxConnections = most
  }

  async listen(address: string, log: (line: string) => void): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#listener.once('error', (cause) =>
      reject(
        new HyperkubeError('PROXY_NOT_LISTENING', `nobody can be heard at ${address}`, {
          hint: `ss -tlnp shows who has the port`,
          cause,
        }),
      ),
    )
    this.#listener.listen({ ...parseAddress(address), backlog: 4096 }, resolve)
    await promise
    this.#listener.removeAllListeners('error').on('error', (error) => log(`listening: ${error.message}`))
  }

  /** Takes no more clients; resolves when the last one has gone. */
  async close(): Promise<void> {
    await new Promise((resolve) => this.#listener.close(resolve))
  }

  /** Gives up looking for a server for those that have none yet. */
  abandon(): void {
    this.#closing.abort()
  }

  /** Finds a server for a client. One that dies before it has said anything is taken for one that was not there. */
  async #serve(client: Socket): Promise<void> {
    client.on('error', () => client.destroy())
    const said: Buffer[] = []
    const tried = new Set<string>()
    const listeners: DialListeners = {
      missed: (name, seen, askedAt) => {
        tried.add(name)
        this.#pool.miss(name, seen, askedAt, performance.now())
      },
      doubted: (name, askedAt) => this.#pool.doubt(name, askedAt),
    }
    while (!client.destroyed) {
      const left = this.#pool.order(performance.now()).filter((name) => !tried.has(name))
      const reached = await dial(left, this.#timing, listeners, this.#closing.signal)
      if (reached === undefined) {
        this.unserved++
        client.destroy()
        return
      }
      tried.add(reached.server)
      const server = this.#pool.adopt(reached.server, performance.now())
      const outcome = await this.#greet(client, reached.socket, server, said)
      if (outcome === 'answered') this.#connect(client, reached.socket, server)
      if (outcome === 'gone') client.destroy()
      if (outcome !== 'elsewhere') return
      server.totals.misses++
    }
  }

  async #greet(client: Socket, socket: Socket, server: Server, said: Buffer[]): Promise<Outcome> {
    const greeting = new Greeting(client, socket, said, this.#random())
    server.connections.add(greeting)
    const outcome = await greeting.outcome
    server.connections.delete(greeting)
    return outcome
  }

  #connect(client: Socket, socket: Socket, server: Server): void {
    server.totals.connections++
    const connection: Connection = new Connection(client, socket, this.#random(), () => {
      server.connections.delete(connection)
      server.totals.sent += connection.sent
      server.totals.received += connection.received
    })
    server.connections.add(connection)
  }
}
