import type { Addon } from './addon.ts'

/** An addon that a cluster must have. */
export interface DesiredAddon extends Addon {
  /** False to continue with the next addon before workloads of this one are ready. */
  readonly wait: boolean
  /** Maximum wait until the addon is ready, in milliseconds. */
  readonly timeoutMs: number
  readonly version?: string
  /** Short description of the addon, shown to operators. */
  readonly description: string
}
