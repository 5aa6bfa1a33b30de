import type { Event } from '../../contract/event.ts'

/** Shows the events of a run. */
export interface ProgressRenderer {
  readonly onEvent: (event: Event) => void
  /** Prints text for the operator between the events. */
  readonly print: (text: string) => void
  /** Stops all updates. */
  readonly close: () => void
}

/**
 * How much of a run is printed as lines: with `quiet` only findings and failures, with `verbose` all ops of
 * all hosts.
 */
export type ProgressDetail = 'quiet' | 'normal' | 'verbose'
