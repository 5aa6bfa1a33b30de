import { Agent, type AgentOptions, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { Tunnel } from './tunnel.ts'

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
