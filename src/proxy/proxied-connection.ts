import type { Socket } from 'node:net'
import type { Guest } from './client-connection.ts'

/** After a gentle end each side gets so long to agree, in milliseconds. */
const goodbye = 1000
/** A server whose client has said its last word gets so long for its own. */
const lastWord = 60_000

/** A client and a server that speak with each other through us. What one does not take, the other may not send. */
export class Connection implements Guest {
  readonly patience: number
  spokenAt = -Infinity
  heardAt = -Infinity
  readonly #client: Socket
  readonly #server: Socket
  #parted = false

  /** `closed` is called when both sides are. */
  constructor(client: Socket, server: Socket, patience: number, closed: () => void) {
    this.patience = patience
    this.#client = client
    this.#server = server
    client.pipe(server)
    server.pipe(client)
    client.on('data', () => (this.spokenAt = performance.now()))
    server.on('data', () => (this.heardAt = performance.now()))
    let open = 2
    for (const [side, other] of [
      [client, server],
      [server, client],
    ] as const) {
      const sideClosed = (): void => {
        // One that ended as it should has already passed that on, behind all that is still to be written.
        if (!side.readableEnded) other.destroy()
        if (--open === 0) closed()
      }
      side.on('error', () => other.destroy())
      if (side.closed) queueMicrotask(sideClosed)
      else side.once('close', sideClosed)
    }
    if (client.readableEnded) this.#cutAfter(lastWord)
    else client.once('end', () => this.#cutAfter(lastWord))
  }

  get sent(): number {
    return this.#server.bytesWritten
  }

  get received(): number {
    return this.#server.bytesRead
  }

  get parted(): boolean {
    return this.#parted
  }

  end(): void {
    this.#parted = true
    for (const side of [this.#client, this.#server]) {
      side.unpipe()
      side.end()
      // What still comes is read and dropped: only so is the other side's end seen.
      side.resume()
    }
    this.#cutAfter(goodbye)
  }

  cut(): void {
    this.#parted = true
    this.#client.destroy()
    this.#server.destroy()
  }

  #cutAfter(milliseconds: number): void {
    if (this.#server.closed) return
    const timer = setTimeout(() => this.cut(), milliseconds)
    this.#server.once('close', () => clearTimeout(timer))
  }
}
