/** State of a unit as systemd reports it. */
export interface UnitState {
  /** loaded, not-found, bad-setting, masked, … */
  readonly load: string
  /** active, activating, deactivating, inactive, failed, reloading. */
  readonly active: string
  /** Detail of `active`: running, start, auto-restart, … */
  readonly sub: string
  /** Cause of the last exit: success, exit-code, signal, … */
  readonly result: string
  /** Last exit status of the main process. */
  readonly status: number
  /** Number of automatic restarts by systemd. */
  readonly restarts: number
  readonly pid: number
  /** Changes with each start. */
  readonly invocation: string
  /** True while a job is queued. */
  readonly busy: boolean
  readonly enabled: boolean
  /** notify, exec, … */
  readonly type: string
}

/** True if nothing runs and no job is queued. */
export function isDown({ active, busy }: Pick<UnitState, 'active' | 'busy'>): boolean {
  return !busy && (active === 'inactive' || active === 'failed')
}

/** systemd of a Linux host. start, stop and restart only queue a job: `show` returns the result. */
export interface Systemd {
  /** Reloads all unit files. */
  reload(): Promise<void>
  show(unit: string): Promise<UnitState>
  /** In the order of the units; costs as much as a single query. */
  showAll(units: readonly string[]): Promise<readonly UnitState[]>
  /** Effective at the next boot, also for units that are not loaded yet. */
  enable(units: readonly string[]): Promise<void>
  disable(unit: string): Promise<void>
  start(unit: string): Promise<void>
  restart(unit: string): Promise<void>
  stop(unit: string): Promise<void>
  /** Kills all processes of the unit. To prevent a restart, stop the unit first. */
  kill(unit: string): Promise<void>
  /** Kills only the main process; its children live on as far as the unit allows. */
  killMain(unit: string): Promise<void>
  /** Resets the failed state, which may be all that is left of a unit. */
  forget(unit: string): Promise<void>
  /** The last log lines of a unit. */
  lines(unit: string, count: number): Promise<readonly string[]>
}
