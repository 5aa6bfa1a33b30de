import type { HealPause, HostHealth } from '../../contract/health.ts'

/** Heals the host and reports its health. */
export interface Healer {
  /** With `fresh` every probe runs first. */
  health(fresh: boolean, signal: AbortSignal): Promise<HostHealth>
  /** Pauses healing for this many milliseconds; 0 ends a pause. Returns the pause that is active now. */
  pause(milliseconds: number, by: string): Promise<HealPause | undefined>
}
