import type { Socket } from 'node:net'
import type { ClientConnection } from './client-connection.ts'

/** Milliseconds that each side has to close after a graceful end. */
const closeTimeoutMs = 1000
/** Milliseconds that a server has to respond after its client has closed the sending direction. */
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
        // If this side ended normally, pipe() has already ended the other side, after all pending data.
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
      // Remaining data is read and dropped. Otherwise the end of the other side would not be detected.
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
