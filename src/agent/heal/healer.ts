import type { HealPause, HostHealth } from '../../contract/health.ts'

/** Who looks after the host, for whoever asks how it is. */
export interface Healer {
  /** With `fresh` every probe is asked first. */
  health(fresh: boolean, signal: AbortSignal): Promise<HostHealth>
  /** For so many milliseconds; 0 ends a pause. Answers with the one that counts from now on. */
  pause(milliseconds: number, by: string): Promise<HealPause | undefined>
}
