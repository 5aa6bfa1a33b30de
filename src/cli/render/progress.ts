import type { Event } from '../../contract/event.ts'

/** Shows what happens, to whoever looks. */
export interface Progress {
  readonly heard: (event: Event) => void
  /** Text for a person, between what is shown. */
  readonly say: (text: string) => void
  /** Nothing moves any more. */
  readonly close: () => void
}
