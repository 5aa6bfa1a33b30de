import type { Addon } from './addon.ts'

/** An addon that a cluster must have. */
export interface DesiredAddon extends Addon {
  /** Whether the next addon starts only after this one is ready. */
  readonly wait: boolean
  /** How long to wait, in milliseconds. */
  readonly timeoutMs: number
  readonly version?: string
  /** A few words for people. */
  readonly description: string
}
