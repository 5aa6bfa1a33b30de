import type { ConnectionActivity } from './drain-decision.ts'

/** A client connection at a server, as the drain decision sees it. */
export interface ClientConnection extends ConnectionActivity {
  /** Bytes. */
  readonly sent: number
  readonly received: number
  /** The connection was already ended or cut. */
  readonly closing: boolean
  /** Closes gracefully; for connections without requests in flight. */
  end(): void
  /** Closes at once. */
  cut(): void
}
