import type { Addon } from './addon.ts'

/** An addon that a cluster shall have. */
export interface WishedAddon extends Addon {
  /** Whether what comes next begins only once it is ready. */
  readonly wait: boolean
  /** How long for, in milliseconds. */
  readonly timeout: number
  readonly version?: string
  /** For people, in a few words. */
  readonly about: string
}
