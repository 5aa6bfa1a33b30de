import { Agent, type AgentOptions, type RequestOptions } from 'node:https'
import type { Duplex } from 'node:stream'
import { Tunnel } from './tunnel.ts'

/** A TCP connection by a way of its own. The signal aborts when nobody wants it any more, also once it stands. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Duplex>

/** Keeps connections for requests; with `dial` over streams that it makes, and otherwise the same. */
export function agentOver(dial: Dial | undefined, options: AgentOptions): Agent {
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
    // Whom the server has to be is still said by the host in the options.
    const over = { ...options, socket }
    return super.createConnection(over)
  }
}
