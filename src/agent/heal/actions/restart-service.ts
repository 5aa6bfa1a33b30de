import { HyperkubeError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/printable.ts'
import type { LinuxHost } from '../../host/host.ts'
import { isDown, type UnitState } from '../../host/systemd.ts'
import { isStopped, readProcessState } from './process-state.ts'

/** In milliseconds. */
interface RestartTimeouts {
  /** Until a stopping process has exited. */
  readonly stopMs: number
  /** Until the new process has been started. */
  readonly startMs: number
}

/** An API server takes half a minute to drain its clients; an unhealthy one gets no more than that. */
export const defaultRestartTimeouts: RestartTimeouts = { stopMs: 30_000, startMs: 15_000 }

const pollIntervalMs = 200
const lastLines = 5

export interface RestartOptions {
  readonly unit: string
  readonly component: string
  /** It runs and does not respond, so it would not handle SIGTERM either. */
  readonly isHung: boolean
}

/**
 * Restarts a service and waits until its supervisor has started it. Probes decide afterwards whether it is
 * healthy. Returns the state before, for people.
 */
export async function restartService(
  host: LinuxHost,
  { unit, component, isHung }: RestartOptions,
  signal: AbortSignal,
  timeouts = defaultRestartTimeouts,
): Promise<readonly string[]> {
  const { systemd, release } = host
  const before = await systemd.show(unit)
  // The agent cannot restart itself; its supervisor does.
  if (before.pid !== 0 && before.pid === release.pid)
    throw restartError(unit, component, 'it is what would restart it')
  const processBefore = await readProcessState(host, before.pid)
  const mustKill = before.pid !== 0 && (isHung || (processBefore !== undefined && isStopped(processBefore)))
  const details = [describeUnit(before, processBefore)]
  if (before.active === 'failed') await systemd.forget(unit)
  if (mustKill) {
    details.push(`killed its process ${before.pid}`)
    await systemd.killMain(unit)
  }
  await systemd.restart(unit)
  let now = await waitForStart(host, unit, before, mustKill ? timeouts.startMs : timeouts.stopMs, signal)
  if (isStartPending(now, before) && now.pid === before.pid && now.pid !== 0) {
    details.push(`killed its process ${now.pid}, which had not ended after ${timeouts.stopMs / 1000} s`)
    await systemd.killMain(unit)
    now = await waitForStart(host, unit, before, timeouts.startMs, signal)
  }
  if (!isStartPending(now, before) && now.pid !== 0) return [...details, `its process is ${now.pid} now`]
  const lines = (await systemd.lines(unit, lastLines)).map(toPrintable)
  throw restartError(unit, component, [...details, `now ${now.active}, ${now.sub}`, ...lines].join('; '))
}

/** Waits until the unit has been started, is down for good, or the timeout (milliseconds) is over. */
export async function waitForStart(
  { systemd, clock }: LinuxHost,
  unit: string,
  before: UnitState,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<UnitState> {
  const deadline = clock.now().getTime() + timeoutMs
  for (;;) {
    const now = await systemd.show(unit)
    const isDone = !isStartPending(now, before) && (now.pid !== 0 || isDown(now))
    if (isDone || clock.now().getTime() >= deadline) return now
    await clock.pause(pollIntervalMs, signal)
  }
}

/** Whether the unit is still at its previous invocation. */
function isStartPending({ invocation, active, busy }: UnitState, before: UnitState): boolean {
  // A start that a unit condition forbids creates no new invocation.
  const skipped = isDown({ active, busy }) && isDown(before)
  return invocation === before.invocation && !skipped
}

function describeUnit(
  { active, sub, result, status, pid }: UnitState,
  processBefore: Awaited<ReturnType<typeof readProcessState>>,
): string {
  const end = result === '' || result === 'success' ? '' : `, ended with ${result} ${status}`
  const location =
    processBefore === undefined || processBefore.waitChannel === '' ? '' : ` in ${processBefore.waitChannel}`
  const process =
    pid === 0
      ? ''
      : `, process ${pid}${processBefore === undefined ? '' : ` ${processBefore.state}${location}`}`
  return toPrintable(`it was ${active}, ${sub}${end}${process}`)
}

function restartError(unit: string, component: string, reason: string): HyperkubeError {
  return new HyperkubeError('SERVICE_FAILED', `${unit} was not started: ${reason}`, {
    component,
    hint: `on the host: journalctl -u ${unit} -e`,
  })
}
