/** What systemd says of a unit. */
export interface UnitState {
  /** loaded, not-found, bad-setting, masked, … */
  readonly load: string
  /** active, activating, deactivating, inactive, failed, reloading. */
  readonly active: string
  /** More of it: running, start, auto-restart, … */
  readonly sub: string
  /** Why it ended last: success, exit-code, signal, … */
  readonly result: string
  /** What its main process ended with last. */
  readonly status: number
  /** How often systemd has started it again by itself. */
  readonly restarts: number
  readonly pid: number
  /** Another one with each start. */
  readonly invocation: string
  /** Whether something about it is still to be done. */
  readonly busy: boolean
  readonly enabled: boolean
  /** notify, exec, … */
  readonly type: string
}

/** Whether nothing of it runs, and nothing is about to. */
export function isDown({ active, busy }: Pick<UnitState, 'active' | 'busy'>): boolean {
  return !busy && (active === 'inactive' || active === 'failed')
}

/** The supervisor of a Linux host. To start, stop and restart is only asked for: `show` tells what came of it. */
export interface Systemd {
  /** Reads all units again. */
  reload(): Promise<void>
  show(unit: string): Promise<UnitState>
  /** In the order of the units; a question for all costs as much as for one. */
  showAll(units: readonly string[]): Promise<readonly UnitState[]>
  /** For the next start of the host; that of a unit which was not read yet, too. */
  enable(units: readonly string[]): Promise<void>
  disable(unit: string): Promise<void>
  start(unit: string): Promise<void>
  restart(unit: string): Promise<void>
  stop(unit: string): Promise<void>
  /** Ends all of its processes without a word. One that shall not come again is stopped before. */
  kill(unit: string): Promise<void>
  /** The same of its main process alone: what it has started lives on as far as its unit lets it. */
  killMain(unit: string): Promise<void>
  /** Forgets that a unit has failed, which would be all that is left of it. */
  forget(unit: string): Promise<void>
  /** The last lines that a unit has written. */
  lines(unit: string, count: number): Promise<readonly string[]>
}
