import type { Socket } from 'node:net'
import type { ConnectionActivity } from './drain-decision.ts'

/** A client's connection to a server, with the fields that the drain decision needs. */
export interface ClientConnection extends ConnectionActivity {
  /** `sent` counts the bytes to the server, `received` the bytes from the server. */
  readonly sent: number
  readonly received: number
  /** True if `end` or `cut` was already called. */
  readonly closing: boolean
  /** Closes the connection gracefully. Used for connections without requests in flight. */
  end(): void
  /** Closes the connection immediately. */
  cut(): void
}

/** Milliseconds after which a gracefully ended connection is cut if the server side is still open. */
const closeTimeoutMs = 1000

/**
 * Maximum time in milliseconds for the server's response after the client has closed the sending direction.
 */
const halfOpenTimeoutMs = 60_000

/** A proxied connection of a client to a server, with backpressure in both directions. */
export class ProxiedConnection implements ClientConnection {
  readonly jitter: number
  clientSentAt = -Infinity
  serverSentAt = -Infinity
  readonly #client: Socket
  readonly #server: Socket
  #closing = false

  /** `onSend` is called when the client sends data, `closed` when both sides are closed. */
  constructor(client: Socket, server: Socket, jitter: number, onSend: () => void, closed: () => void) {
    this.jitter = jitter
    this.#client = client
    this.#server = server
    client.pipe(server)
    server.pipe(client)
    client.on('data', () => {
      this.clientSentAt = performance.now()
      onSend()
    })
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
      // Remaining data is read and dropped. Otherwise Node would not notice when the peer closes the
      // connection.
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

/** Maximum number of bytes to buffer. The first TLS message needs about a tenth of this. */
const maxBufferedBytes = 16_384

/**
 * `established`: the connection stays at this server. `elsewhere`: the buffered data can be replayed to
 * another server. `refused`: the same, because the server closed the connection. `gone`: the client has
 * disconnected.
 */
export type HandshakeResult = 'established' | 'elsewhere' | 'refused' | 'gone'

/**
 * Phase of a connection from the client's first data to the server's first data. TLS sends no request before
 * both sides have sent data. So if the server dies or hangs in this phase, the data can be replayed to
 * another server.
 */
export class ConnectionHandshake implements ClientConnection {
  readonly jitter: number
  clientSentAt = -Infinity
  readonly serverSentAt = -Infinity
  readonly outcome: Promise<HandshakeResult>
  readonly #settle: (outcome: HandshakeResult) => void
  readonly #server: Socket
  #closing = false

  /**
   * `buffered` contains all data that the client has sent so far; the handshake appends further data.
   * `onSend` is called when data is sent to the server.
   */
  constructor(client: Socket, server: Socket, buffered: Buffer[], jitter: number, onSend: () => void) {
    this.jitter = jitter
    this.#server = server
    const { promise, resolve } = Promise.withResolvers<HandshakeResult>()
    this.outcome = promise

    const send = (data: Buffer): void => {
      server.write(data)
      this.clientSentAt = performance.now()
      onSend()
    }
    const onClientData = (data: Buffer): void => {
      buffered.push(data)
      send(data)
      // The data no longer fits into the buffer, so this connection cannot be replayed any more.
      if (buffered.reduce((sum, { length }) => sum + length, 0) > maxBufferedBytes)
        this.#settle('established')
    }
    const onServerData = (data: Buffer): void => {
      server.pause()
      server.unshift(data)
      this.#settle('established')
    }
    const onClientEnd = (): void => this.#settle('established')
    const onClientClose = (): void => this.#settle('gone')
    const onServerClose = (): void => this.#settle('refused')

    this.#settle = (outcome) => {
      client.off('data', onClientData).off('end', onClientEnd).off('close', onClientClose).pause()
      server.off('data', onServerData).off('end', onServerClose).off('close', onServerClose)
      if (outcome !== 'established') server.destroy()
      resolve(outcome)
    }
    for (const data of buffered) send(data)
    client.on('data', onClientData).on('end', onClientEnd).on('close', onClientClose).resume()
    server.on('data', onServerData).on('end', onServerClose).on('close', onServerClose)
    if (client.destroyed) onClientClose()
    else if (server.destroyed) onServerClose()
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
    this.cut()
  }

  cut(): void {
    this.#closing = true
    this.#settle('elsewhere')
  }
}
