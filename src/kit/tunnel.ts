import { Agent, type AgentOptions, type RequestOptions } from 'node:https'
import { Duplex, type Readable, type Writable } from 'node:stream'
import { callbackify } from 'node:util'

/** The two streams of a connection. */
export interface StreamPair {
  readonly readable: Readable
  readonly writable: Writable
  /** Closes the connection. Called only if a stream has not ended by itself. */
  readonly close: (error: Error | null) => void
}

/** Opens a connection. The signal aborts when the connection is no longer needed. */
export type OpenStreams = (signal: AbortSignal) => Promise<StreamPair>

/**
 * A duplex stream that exists before its connection is open. Like a socket, it fails with the error of the
 * connection and can be destroyed at any time.
 */
export class Tunnel extends Duplex {
  readonly #open: OpenStreams
  readonly #aborter = new AbortController()
  #streams: StreamPair | undefined
  /** True if the writable stream of the connection is closed. */
  #writeClosed = false

  constructor(open: OpenStreams) {
    super({ allowHalfOpen: false })
    this.#open = open
  }

  override _construct(done: (error?: Error | null) => void): void {
    callbackify(async () => this.#connect())(done)
  }

  async #connect(): Promise<void> {
    const { signal } = this.#aborter
    try {
      this.#streams = await this.#open(signal)
      this.#attach(this.#streams)
    } catch (error) {
      if (!signal.aborted) throw error
    }
  }

  #attach({ readable, writable }: StreamPair): void {
    let ended = false
    readable.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) readable.pause()
    })
    readable.on('end', () => {
      ended = true
      this.push(null)
    })
    // After the connection is closed, received data can still be read, but data that was not yet written is
    // lost.
    const destroyAsClosed = (): unknown => this.destroy(new Error('the connection was closed'))
    readable.on('close', () => ended || destroyAsClosed())
    writable.on('close', () => {
      this.#writeClosed = true
      if (this.writableLength > 0) destroyAsClosed()
    })
    for (const stream of new Set([readable, writable])) stream.on('error', (error) => this.destroy(error))
  }

  override _read(): void {
    this.#streams?.readable.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#streams?.writable.write(chunk, done)
  }

  override _final(done: (error?: Error | null) => void): void {
    if (this.#writeClosed) done()
    else this.#streams?.writable.end(done)
  }

  // Aborts a connection attempt that is still pending; otherwise destroy would wait for it.
  override destroy(error?: Error): this {
    this.#aborter.abort(error)
    return super.destroy(error)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    if (!this.readableEnded || !this.writableFinished) this.#streams?.close(error)
    done(error)
  }
}

/**
 * Opens a TCP connection indirectly, for example over SSH. The signal aborts when the connection is no longer
 * needed, even if it is already open.
 */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Duplex>

/** Creates an HTTPS agent that keeps connections alive. If `dial` is given, it opens the connections. */
export function createHttpsAgent(dial: Dial | undefined, options: AgentOptions): Agent {
  return dial === undefined ? new Agent(options) : new TunnelAgent(dial, options)
}

class TunnelAgent extends Agent {
  readonly #dial: Dial

  constructor(dial: Dial, options: AgentOptions) {
    super(options)
    this.#dial = dial
  }

  override createConnection(options: RequestOptions): Duplex | null | undefined {
    const socket = new Tunnel(async (signal) => {
      const stream = await this.#dial(options.host ?? '', Number(options.port), signal)
      return {
        readable: stream,
        writable: stream,
        close: (error) => stream.destroy(error ?? undefined),
      }
    })
    // TLS still verifies the certificate against the host in `options`, not against the tunnel.
    const tunnelled = { ...options, socket }
    return super.createConnection(tunnelled)
  }
}
