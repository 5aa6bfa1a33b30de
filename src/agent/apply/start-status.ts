import type { ComponentPlan } from '../../contract/component-plan.ts'
import { isDown, type UnitState } from '../host/service-manager.ts'

/** Observations of a service that is starting. Times are in milliseconds. */
export interface StartWatch {
  readonly unit: string
  readonly begunAt: number
  /** Time in which the service may exit repeatedly before the start counts as failed. */
  readonly timeoutMs: number
  /** systemd invocation id from before the start. The watch waits for a different id. */
  readonly previousInvocation: string | undefined
  /**
   * Number of exits since the watch began after which systemd restarted the service. `restarts` is systemd's
   * own restart counter at the last observation.
   */
  readonly exits: number
  readonly restarts: number
  /**
   * Last observed invocation id, empty while the service is not active. `runningSince` is the time at which
   * this id was first observed.
   */
  readonly invocation: string
  readonly runningSince: number
  /** The last failed exit, kept because systemd does not report it while the service starts again. */
  readonly lastExit: Pick<UnitState, 'result' | 'status'> | undefined
}

export type StartStatus =
  | { readonly is: 'running' }
  | { readonly is: 'waiting'; readonly for: string }
  | { readonly is: 'failed'; readonly how: string }

/** A program without readiness notification counts as ready after it has run for this long. */
const readyAfterMs = 1000
/**
 * Some services exit while they wait for others. Repeated exits count as a failed start only after this time
 * and after `maxExits` exits.
 */
const minTimeoutMs = 60_000
/** etcd waits for other members without exiting, so repeated exits have a cause that does not go away. */
const etcdTimeoutMs = 30_000
const maxExits = 3
/** Lowest exit status that systemd sets itself, when it could not start the program (203: not executable). */
const firstSystemdStatus = 200

/**
 * Returns the start timeout of a component: twice the time that its local probes may fail, and at least a
 * minute. That of etcd is shorter.
 */
export function startTimeoutMs({ stage, probes }: Pick<ComponentPlan, 'stage' | 'probes'>): number {
  if (stage === 'etcd') return etcdTimeoutMs
  const local = probes.filter(({ scope }) => scope === 'local')
  return Math.max(
    minTimeoutMs,
    ...local.map(({ intervalMs, failureThreshold }) => 2 * intervalMs * failureThreshold),
  )
}

export function beginWatch(
  unit: string,
  state: UnitState,
  previousInvocation: string | undefined,
  now: number,
  timeoutMs: number,
): StartWatch {
  const { restarts } = state
  return {
    unit,
    begunAt: now,
    timeoutMs,
    previousInvocation,
    exits: 0,
    restarts,
    invocation: '',
    runningSince: now,
    lastExit: undefined,
  }
}

/** Returns the watch with one more observation. */
export function updateWatch(watch: StartWatch, state: UnitState, now: number): StartWatch {
  const { restarts, invocation, active, result, status } = state
  const isSame = invocation === watch.invocation && active === 'active'
  return {
    ...watch,
    // A manual start resets systemd's restart counter to zero, so the difference may be negative.
    exits: watch.exits + Math.max(0, restarts - watch.restarts),
    restarts,
    invocation: active === 'active' ? invocation : '',
    runningSince: isSame ? watch.runningSince : now,
    lastExit: result === 'success' || result === '' ? watch.lastExit : { result, status },
  }
}

export function readStartStatus(watch: StartWatch, state: UnitState, now: number): StartStatus {
  const { unit, previousInvocation, exits, begunAt, timeoutMs, runningSince, lastExit } = watch
  const { active, busy, type, invocation } = state
  const up = active === 'active' && !busy && invocation !== previousInvocation
  if (up && (type === 'notify' || now - runningSince >= readyAfterMs)) return { is: 'running' }
  const timedOut = exits >= maxExits && now - begunAt >= timeoutMs
  const cannotRun = exits >= 1 && state.result === 'exit-code' && state.status >= firstSystemdStatus
  const how = formatUnitState(state, exits, lastExit)
  return isDown(state) || timedOut || cannotRun
    ? { is: 'failed', how }
    : { is: 'waiting', for: `${unit} to run (${how})` }
}

function formatUnitState(
  { active, sub }: UnitState,
  exits: number,
  lastExit: StartWatch['lastExit'],
): string {
  const parts = [
    active === sub ? active : `${active}, ${sub}`,
    ...(exits === 0 ? [] : [`exited ${exits === 1 ? 'once' : `${exits} times`}`]),
    ...(lastExit === undefined
      ? []
      : [`last exit: ${lastExit.result}${lastExit.status === 0 ? '' : ` ${lastExit.status}`}`]),
  ]
  return parts.join('; ')
}
