import type { Event } from '../../contract/event.ts'

/** Shows the events of a run. */
export interface ProgressRenderer {
  readonly onEvent: (event: Event) => void
  /** Prints text for the operator between the events. */
  readonly print: (text: string) => void
  /** Stops all updates. */
  readonly close: () => void
}
