import type { Pace } from './backoff.ts'
import type { Seen, WorkerMemory } from './worker-observation.ts'
import type { Step } from './step.ts'
import type { WorkerWish } from './worker-spec.ts'

/** All that is known when it is decided what to do. */
export interface Scene {
  readonly wish: WorkerWish
  readonly seen: Seen
  readonly memory: WorkerMemory
  readonly now: number
  /** The usual one, unless another was chosen. */
  readonly pace?: Pace
}

export type Wanted =
  /** Where things come one after the other, one that was just tried keeps all that follow waiting. */
  | { readonly step: Step; readonly keeps: boolean }
  /** Nothing to do but to look again: nothing that follows is asked for. */
  | { readonly wait: string }

/** What is wanted of a host, the first thing first. */
export type Wishes = Generator<Wanted, void>
