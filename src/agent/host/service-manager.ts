/**
 * Interface to the service manager of a host. systemd (`linux/systemd.ts`) and the Service Control Manager of
 * Windows (`windows/service-control-manager.ts`) implement it; another init system would implement
 * `LinuxServiceManager`. The terms are those of systemd. start, stop and restart may only queue a job; `show`
 * later reports its result.
 */
export interface ServiceManager {
  /** Reloads all unit files. */
  reload(): Promise<void>
  show(unit: string): Promise<UnitState>
  /** Returns the states in the order of `units`. Querying many units takes no longer than querying one. */
  showAll(units: readonly string[]): Promise<readonly UnitState[]>
  /** Enables units for the next boot, including units that are not loaded yet. */
  enable(units: readonly string[]): Promise<void>
  start(unit: string): Promise<void>
  restart(unit: string): Promise<void>
  /** Starts or restarts units in one request. */
  startAll(action: 'start' | 'restart', units: readonly string[]): Promise<void>
  stop(unit: string): Promise<void>
  /** Kills all processes of the unit. To prevent a restart, stop the unit first. */
  kill(unit: string): Promise<void>
  /** Returns the last log lines of a unit. */
  lines(unit: string, count: number): Promise<readonly string[]>
}

/** Service manager of a Linux host, with additional operations that Windows does not need. */
export interface LinuxServiceManager extends ServiceManager {
  disable(unit: string): Promise<void>
  /**
   * Ends only the main process. Whether its children survive depends on the unit's settings. SIGQUIT makes a
   * Go program print the stacks of all goroutines before it exits.
   */
  killMain(unit: string, signal?: 'SIGKILL' | 'SIGQUIT'): Promise<void>
  /** Resets the failed state of a unit. systemd keeps this state even after the unit file was deleted. */
  forget(unit: string): Promise<void>
}

/** State of a service. Its fields and values are those of systemd. */
export interface UnitState {
  /** LoadState: loaded, not-found, bad-setting, masked, … */
  readonly load: string
  /** ActiveState: active, activating, deactivating, inactive, failed, reloading, refreshing. */
  readonly active: string
  /** SubState, which refines ActiveState: running, start, auto-restart, … */
  readonly sub: string
  /** Cause of the last exit: success, exit-code, signal, … */
  readonly result: string
  /** Exit status of the main process when it last ended. */
  readonly status: number
  /** Number of automatic restarts by the service manager. */
  readonly restarts: number
  readonly pid: number
  /** InvocationID, which changes with each start. */
  readonly invocation: string
  /** True while a job of the unit is queued. */
  readonly busy: boolean
  readonly enabled: boolean
  /** True if the unit file on disk is newer than the loaded unit. */
  readonly needsReload: boolean
  /** Type of the service: notify, exec, … */
  readonly type: string
}

/** True if the unit does not run and no job is queued. */
export function isDown({ active, busy }: Pick<UnitState, 'active' | 'busy'>): boolean {
  return !busy && (active === 'inactive' || active === 'failed')
}
