import { Duplex, type Readable, type Writable } from 'node:stream'
import { callbackify } from 'node:util'

/** Both directions of a connection. */
export interface Ends {
  readonly readable: Readable
  readonly writable: Writable
  /** Called unless both have come to their ends by themselves. */
  readonly close: (error: Error | null) => void
}

/** Makes a connection. The signal aborts when nobody wants it any more. */
export type OpenEnds = (signal: AbortSignal) => Promise<Ends>

/**
 * One stream, there at once, over a connection that is still to be made. It behaves as a socket does, whatever it goes over:
 * it fails with what the connection fails with, and is destroyed without waiting for anybody.
 */
export class Tunnel extends Duplex {
  readonly #open: OpenEnds
  readonly #unwanted = new AbortController()
  #ends: Ends | undefined
  /** Nothing can be written any more. */
  #deaf = false

  constructor(open: OpenEnds) {
    super({ allowHalfOpen: false })
    this.#open = open
  }

  override _construct(done: (error?: Error | null) => void): void {
    callbackify(async () => this.#stand())(done)
  }

  async #stand(): Promise<void> {
    const { signal } = this.#unwanted
    try {
      this.#ends = await this.#open(signal)
      this.#listen(this.#ends)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  #listen({ readable, writable }: Ends): void {
    let ended = false
    readable.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) readable.pause()
    })
    readable.on('end', () => {
      ended = true
      this.push(null)
    })
    // What was read may still wait to be taken; what could not be written has nobody to go to.
    const cut = (): unknown => this.destroy(new Error('the connection was closed'))
    readable.on('close', () => ended || cut())
    writable.on('close', () => {
      this.#deaf = true
      if (this.writableLength > 0) cut()
    })
    for (const stream of new Set([readable, writable])) stream.on('error', (error) => this.destroy(error))
  }

  override _read(): void {
    this.#ends?.readable.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#ends?.writable.write(chunk, done)
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#deaf) done()
    else this.#ends?.writable.end(done)
  }

  // While the connection is made, all that follows would wait for it.
  override destroy(error?: Error): this {
    this.#unwanted.abort(error)
    return super.destroy(error)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.readableEnded || !this.writableFinished) this.#ends?.close(error)
    done(error)
  }
}
