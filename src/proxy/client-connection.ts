import type { ConnectionActivity } from './drain-decision.ts'

/** A client's connection to a server, with the fields that the drain decision needs. */
export interface ClientConnection extends ConnectionActivity {
  /** `sent` and `received` count bytes. */
  readonly sent: number
  readonly received: number
  /** True if the connection was already ended or cut. */
  readonly closing: boolean
  /** Closes the connection gracefully. Used for connections without requests in flight. */
  end(): void
  /** Closes the connection immediately. */
  cut(): void
}
