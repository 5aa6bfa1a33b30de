import type { Socket } from 'node:net'
import type { Guest } from './client-connection.ts'

/** Bytes. The first message of TLS is a tenth of it. */
const most = 16_384

/** `answered`: the two can be left alone. `elsewhere`: all that was said can be said to another server. */
export type Outcome = 'answered' | 'elsewhere' | 'gone'

/**
 * The time from a client's first word to the first one of a server. Whatever the client has said until then has had no
 * effect: with TLS nothing is asked before both have spoken. So when the server dies now, or is found to hang, the same
 * is said to another one, and the client never learns of it.
 */
export class Greeting implements Guest {
  readonly patience: number
  spokenAt = -Infinity
  readonly heardAt = -Infinity
  readonly outcome: Promise<Outcome>
  readonly #settle: (outcome: Outcome) => void
  readonly #server: Socket
  #parted = false

  /** `said` is what the client has said so far, and goes on to be filled. */
  constructor(client: Socket, server: Socket, said: Buffer[], patience: number) {
    this.patience = patience
    this.#server = server
    const { promise, resolve } = Promise.withResolvers<Outcome>()
    this.outcome = promise

    const speak = (words: Buffer): void => {
      server.write(words)
      this.spokenAt = performance.now()
    }
    const clientSpoke = (words: Buffer): void => {
      said.push(words)
      speak(words)
      // Too much to keep: from now on it is only passed on.
      if (said.reduce((sum, { length }) => sum + length, 0) > most) this.#settle('answered')
    }
    const serverSpoke = (words: Buffer): void => {
      server.pause()
      server.unshift(words)
      this.#settle('answered')
    }
    const clientEnded = (): void => this.#settle('answered')
    const clientGone = (): void => this.#settle('gone')
    const serverGone = (): void => this.#settle('elsewhere')

    this.#settle = (outcome) => {
      client.off('data', clientSpoke).off('end', clientEnded).off('close', clientGone).pause()
      server.off('data', serverSpoke).off('end', serverGone).off('close', serverGone)
      if (outcome !== 'answered') server.destroy()
      resolve(outcome)
    }
    for (const words of said) speak(words)
    client.on('data', clientSpoke).on('end', clientEnded).on('close', clientGone).resume()
    server.on('data', serverSpoke).on('end', serverGone).on('close', serverGone)
    if (client.destroyed) clientGone()
    else if (server.destroyed) serverGone()
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
    this.cut()
  }

  cut(): void {
    this.#parted = true
    this.#settle('elsewhere')
  }
}
