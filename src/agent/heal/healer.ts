import type { HealPause, HostHealth } from '../../contract/health.ts'

/** Heals the host and reports its health. */
export interface Healer {
  /** Returns the health of the host. With `fresh`, all probes run first. */
  health(fresh: boolean, signal: AbortSignal): Promise<HostHealth>
  /**
   * Pauses healing for this many milliseconds; 0 ends the pause. Returns the active pause, if there is one.
   */
  pause(milliseconds: number, by: string): Promise<HealPause | undefined>
}
