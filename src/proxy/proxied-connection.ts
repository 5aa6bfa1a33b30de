import type { Socket } from 'node:net'
import type { ClientConnection } from './client-connection.ts'

/** After a graceful end each side has so many milliseconds to close. */
const closeTimeoutMs = 1000
/** How long a server may respond after its client has closed its side. */
const halfOpenTimeoutMs = 60_000

/** A proxied connection of a client to a server, with backpressure in both directions. */
export class ProxiedConnection implements ClientConnection {
  readonly jitter: number
  clientSentAt = -Infinity
  serverSentAt = -Infinity
  readonly #client: Socket
  readonly #server: Socket
  #closing = false

  /** `closed` is called when both sides are closed. */
  constructor(client: Socket, server: Socket, jitter: number, closed: () => void) {
    this.jitter = jitter
    this.#client = client
    this.#server = server
    client.pipe(server)
    server.pipe(client)
    client.on('data', () => (this.clientSentAt = performance.now()))
    server.on('data', () => (this.serverSentAt = performance.now()))
    let open = 2
    for (const [side, other] of [
      [client, server],
      [server, client],
    ] as const) {
      const sideClosed = (): void => {
        // A side that ended normally has already passed on its end, after all pending data.
        if (!side.readableEnded) other.destroy()
        if (--open === 0) closed()
      }
      side.on('error', () => other.destroy())
      if (side.closed) queueMicrotask(sideClosed)
      else side.once('close', sideClosed)
    }
    if (client.readableEnded) this.#cutAfter(halfOpenTimeoutMs)
    else client.once('end', () => this.#cutAfter(halfOpenTimeoutMs))
  }

  get sent(): number {
    return this.#server.bytesWritten
  }

  get received(): number {
    return this.#server.bytesRead
  }

  get closing(): boolean {
    return this.#closing
  }

  end(): void {
    this.#closing = true
    for (const side of [this.#client, this.#server]) {
      side.unpipe()
      side.end()
      // Further data is read and dropped: otherwise the end of the other side would not be noticed.
      side.resume()
    }
    this.#cutAfter(closeTimeoutMs)
  }

  cut(): void {
    this.#closing = true
    this.#client.destroy()
    this.#server.destroy()
  }

  #cutAfter(milliseconds: number): void {
    if (this.#server.closed) return
    const timer = setTimeout(() => this.cut(), milliseconds)
    this.#server.once('close', () => clearTimeout(timer))
  }
}
