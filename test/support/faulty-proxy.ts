import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Dial } from '../../src/kit/tunnel-agent.ts'

/**
 * `reset`: both sides are told; `half-open`: the client is told nothing, and hears nothing any more; `delay`: for a while
 * nothing goes through, and then all of it.
 */
export type Cut = 'reset' | 'half-open' | 'delay'
export const cuts: readonly Cut[] = ['reset', 'half-open', 'delay']

interface Connection {
  readonly client: Socket
  readonly server: Socket
}

/** A way to one server that can be cut. */
export class CutProxy implements AsyncDisposable {
  readonly #listener: Server
  readonly #open = new Set<Connection>()
  /** Those that the client still takes for connections. */
  readonly #dead = new Set<Socket>()
  readonly #delays = new Set<NodeJS.Timeout>()
  #accepted = 0

  private constructor(listener: Server, host: string, port: number) {
    this.#listener = listener
    listener.on('connection', (client) => this.#join({ client, server: connect({ host, port }) }))
  }

  static async open(host: string, port: number): Promise<CutProxy> {
    const listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
    return new CutProxy(listener, host, port)
  }

  /** How many connections there were so far. */
  get accepted(): number {
    return this.#accepted
  }

  get standing(): number {
    return this.#open.size
  }

  readonly dial: Dial = async (_host, _port, signal) => {
    const address = this.#listener.address()
    if (address === null || typeof address === 'string') throw new Error('the proxy is closed')
    const socket = connect({ host: '127.0.0.1', port: address.port, noDelay: true, signal })
    await once(socket, 'connect')
    return socket
  }

  /** Cuts all connections there are; those that come later are fine. */
  cut(kind: Cut, delay: number): void {
    for (const connection of this.#open) {
      if (kind === 'delay') this.#hold(connection, delay)
      else this.#end(connection, kind)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#delays) clearTimeout(timer)
    for (const connection of this.#open) this.#end(connection, 'reset')
    for (const socket of this.#dead) socket.destroy()
    this.#listener.close()
    await once(this.#listener, 'close')
  }

  #join(connection: Connection): void {
    const { client, server } = connection
    this.#accepted++
    this.#open.add(connection)
    client.setNoDelay(true)
    server.setNoDelay(true)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.pipe(to)
      // What goes wrong shows at the other side, when it is closed.
      from.on('error', () => undefined)
      from.on('close', () => {
        if (this.#open.delete(connection)) to.destroy()
      })
    }
  }

  #hold({ client, server }: Connection, delay: number): void {
    client.unpipe(server).pause()
    server.unpipe(client).pause()
    const timer = setTimeout(() => {
      this.#delays.delete(timer)
      client.pipe(server)
      server.pipe(client)
    }, delay)
    this.#delays.add(timer)
  }

  #end(connection: Connection, kind: 'reset' | 'half-open'): void {
    const { client, server } = connection
    this.#open.delete(connection)
    client.unpipe(server)
    server.unpipe(client)
    server.destroy()
    if (kind === 'reset') {
      client.resetAndDestroy()
      return
    }
    client.resume()
    this.#dead.add(client)
    client.on('close', () => this.#dead.delete(client))
  }
}
