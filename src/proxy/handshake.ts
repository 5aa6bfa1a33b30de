import type { Socket } from 'node:net'
import type { ClientConnection } from './client-connection.ts'

/** Bytes. The first TLS message takes about a tenth of it. */
const maxBufferedBytes = 16_384

/**
 * `established`: the connection is established. `elsewhere`: all data so far can be replayed to another server.
 */
export type HandshakeResult = 'established' | 'elsewhere' | 'gone'

/**
 * The time from the first data of a client to the first data of a server. Until then the client's data has no
 * effect, because in TLS no request is sent before both sides have spoken. So if the server dies or hangs
 * now, the data is replayed to another one, and the client does not notice.
 */
export class ConnectionHandshake implements ClientConnection {
  readonly jitter: number
  clientSentAt = -Infinity
  readonly serverSentAt = -Infinity
  readonly outcome: Promise<HandshakeResult>
  readonly #settle: (outcome: HandshakeResult) => void
  readonly #server: Socket
  #closing = false

  /** `buffered` is what the client has sent so far; it keeps growing. */
  constructor(client: Socket, server: Socket, buffered: Buffer[], jitter: number) {
    this.jitter = jitter
    this.#server = server
    const { promise, resolve } = Promise.withResolvers<HandshakeResult>()
    this.outcome = promise

    const send = (data: Buffer): void => {
      server.write(data)
      this.clientSentAt = performance.now()
    }
    const onClientData = (data: Buffer): void => {
      buffered.push(data)
      send(data)
      // Too much to buffer: from now on the connection cannot be replayed.
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
    const onServerClose = (): void => this.#settle('elsewhere')

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
