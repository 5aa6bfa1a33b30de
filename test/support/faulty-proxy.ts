import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { Dial } from '../../src/kit/tunnel.ts'

/**
 * `reset` closes both sides. `half-open` closes only the server side, and the client is not notified. `delay`
 * holds data back for a while.
 */
export type ConnectionFault = 'reset' | 'half-open' | 'delay'
export const connectionFaults: readonly ConnectionFault[] = ['reset', 'half-open', 'delay']

interface Connection {
  readonly client: Socket
  readonly server: Socket
}

/** A proxy to one server that can break its connections. */
export class FaultyProxy implements AsyncDisposable {
  readonly #listener: Server
  readonly #connections = new Set<Connection>()
  /** Client sockets of half-open connections. */
  readonly #halfOpen = new Set<Socket>()
  readonly #delays = new Set<NodeJS.Timeout>()
  #accepted = 0

  private constructor(listener: Server, host: string, port: number) {
    this.#listener = listener
    listener.on('connection', (client) => this.#pipe({ client, server: connect({ host, port }) }))
  }

  static async open(host: string, port: number): Promise<FaultyProxy> {
    const listener = createServer().listen(0, '127.0.0.1')
    await once(listener, 'listening')
    return new FaultyProxy(listener, host, port)
  }

  /** Number of connections accepted so far. */
  get accepted(): number {
    return this.#accepted
  }

  /** Port of the proxy on the loopback address. */
  get port(): number {
    const address = this.#listener.address()
    if (address === null || typeof address === 'string') throw new Error('the proxy is closed')
    return address.port
  }

  get openCount(): number {
    return this.#connections.size
  }

  readonly dial: Dial = async (_host, _port, signal) => {
    const socket = connect({ host: '127.0.0.1', port: this.port, noDelay: true, signal })
    await once(socket, 'connect')
    return socket
  }

  /** Breaks or delays all open connections; later connections work. */
  breakConnections(kind: ConnectionFault, delay: number): void {
    for (const connection of this.#connections) {
      if (kind === 'delay') this.#delay(connection, delay)
      else this.#break(connection, kind)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const timer of this.#delays) clearTimeout(timer)
    for (const connection of this.#connections) this.#break(connection, 'reset')
    for (const socket of this.#halfOpen) socket.destroy()
    this.#listener.close()
    await once(this.#listener, 'close')
  }

  #pipe(connection: Connection): void {
    const { client, server } = connection
    this.#accepted++
    this.#connections.add(connection)
    client.setNoDelay(true)
    server.setNoDelay(true)
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.pipe(to)
      // Errors need no other handling: a close event follows each error and closes the other side.
      from.on('error', () => undefined)
      from.on('close', () => {
        if (this.#connections.delete(connection)) to.destroy()
      })
    }
  }

  #delay({ client, server }: Connection, delay: number): void {
    client.unpipe(server).pause()
    server.unpipe(client).pause()
    const timer = setTimeout(() => {
      this.#delays.delete(timer)
      client.pipe(server)
      server.pipe(client)
    }, delay)
    this.#delays.add(timer)
  }

  #break(connection: Connection, kind: 'reset' | 'half-open'): void {
    const { client, server } = connection
    this.#connections.delete(connection)
    client.unpipe(server)
    server.unpipe(client)
    server.destroy()
    if (kind === 'reset') {
      client.resetAndDestroy()
      return
    }
    client.resume()
    this.#halfOpen.add(client)
    client.on('close', () => this.#halfOpen.delete(client))
  }
}
