import type { Talk } from './drain-decision.ts'

/** A client at a server, as seen by those who decide whether it stays. */
export interface Guest extends Talk {
  /** Bytes. */
  readonly sent: number
  readonly received: number
  /** It has already been told to go. */
  readonly parted: boolean
  /** Lets it go gently, for one with nothing in flight. */
  end(): void
  /** Lets it go at once. */
  cut(): void
}
