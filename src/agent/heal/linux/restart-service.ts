import { HyperkubeError } from '../../../kit/errors.ts'
import { toPrintable } from '../../../kit/text.ts'
import type { LinuxHost } from '../../host/host.ts'
import { isDown, type UnitState } from '../../host/service-manager.ts'

/** Timeouts of a restart, in milliseconds. */
interface RestartTimeouts {
  /** Time for the old process to exit. */
  readonly stopMs: number
  /** Time until the new process must be started. */
  readonly startMs: number
}

/** `stopMs` covers the half minute that an API server takes to drain its clients. */
export const defaultRestartTimeouts: RestartTimeouts = { stopMs: 30_000, startMs: 15_000 }

const pollIntervalMs = 200
const lastLines = 5

export interface RestartOptions {
  readonly unit: string
  readonly component: string
  /**
   * True if the process runs but does not respond. The process is then killed, because it would not handle
   * SIGTERM either.
   */
  readonly isHung: boolean
}

/**
 * Restarts a service and waits until systemd has started it. Probes check its health afterwards. Returns a
 * description of the state before the restart.
 */
export async function restartService(
  host: LinuxHost,
  { unit, component, isHung }: RestartOptions,
  signal: AbortSignal,
  timeouts = defaultRestartTimeouts,
): Promise<readonly string[]> {
  const { services, release } = host
  const before = await services.show(unit)
  // The agent cannot restart its own service, because the restart would end the agent. systemd restarts the
  // agent if it hangs.
  if (before.pid !== 0 && before.pid === release.pid)
    throw restartError(unit, component, 'the agent cannot restart its own service')
  const processBefore = await readProcessState(host, before.pid)
  const isProcessStopped = processBefore !== undefined && isStopped(processBefore)
  const mustKill = before.pid !== 0 && (isHung || isProcessStopped)
  const details = [describeUnit(before, processBefore)]
  if (before.active === 'failed') await services.forget(unit)
  if (mustKill) {
    const hasQuit = !isProcessStopped && (await quitMain(host, unit, before, signal))
    details.push(
      hasQuit
        ? `its process ${before.pid} wrote its stacks to the journal and exited`
        : `killed its process ${before.pid}`,
    )
    if (!hasQuit) await services.killMain(unit)
  }
  await services.restart(unit)
  let now = await waitForStart(host, unit, before, mustKill ? timeouts.startMs : timeouts.stopMs, signal)
  if (isStartPending(now, before) && now.pid === before.pid && now.pid !== 0) {
    details.push(`killed its process ${now.pid}, which did not exit within ${timeouts.stopMs / 1000} s`)
    await services.killMain(unit)
    now = await waitForStart(host, unit, before, timeouts.startMs, signal)
  }
  if (!isStartPending(now, before) && now.pid !== 0) return [...details, `its new process is ${now.pid}`]
  const lines = (await services.lines(unit, lastLines)).map(toPrintable)
  throw restartError(unit, component, [...details, `now ${now.active}, ${now.sub}`, ...lines].join('; '))
}

/** Milliseconds for a hung process to print its stacks and exit. */
const quitTimeoutMs = 3000

/**
 * Asks a hung process to print the stacks of its threads and to exit. Without the stacks, the reason of the
 * hang would stay unknown. Returns false if the process did not exit in time.
 */
async function quitMain(
  host: LinuxHost,
  unit: string,
  { pid }: UnitState,
  signal: AbortSignal,
): Promise<boolean> {
  await host.services.killMain(unit, 'SIGQUIT')
  const deadline = host.clock.now().getTime() + quitTimeoutMs
  const now = await showUntil(host, unit, (state) => state.pid !== pid, deadline, signal)
  return now.pid !== pid
}

/** Waits until the unit has been started, is down for good, or `timeoutMs` has passed. */
export async function waitForStart(
  host: LinuxHost,
  unit: string,
  before: UnitState,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<UnitState> {
  const isDone = (now: UnitState): boolean => !isStartPending(now, before) && (now.pid !== 0 || isDown(now))
  return showUntil(host, unit, isDone, host.clock.now().getTime() + timeoutMs, signal)
}

/** Reads the state of a unit until `isDone` accepts it, or until the deadline. Returns the last state. */
export async function showUntil(
  { services, clock }: LinuxHost,
  unit: string,
  isDone: (state: UnitState) => boolean | Promise<boolean>,
  deadline: number,
  signal: AbortSignal,
): Promise<UnitState> {
  for (;;) {
    const state = await services.show(unit)
    if ((await isDone(state)) || clock.now().getTime() >= deadline) return state
    await clock.pause(pollIntervalMs, signal)
  }
}

/** True if the unit has not been started since `before`. */
function isStartPending({ invocation, active, busy }: UnitState, before: UnitState): boolean {
  // If a unit condition prevents the start, there is no new invocation, so do not wait for one.
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

/** State of a process, from /proc. */
interface ProcessState {
  /** State letter and name, for example T (stopped), D (disk sleep) or S (sleeping). */
  readonly state: string
  /** Kernel function in which the process waits; empty if the kernel does not expose it. */
  readonly waitChannel: string
}

export async function readProcessState(
  { files }: Pick<LinuxHost, 'files'>,
  pid: number,
): Promise<ProcessState | undefined> {
  if (pid === 0) return undefined
  const [status, wchan] = await Promise.all(
    ['status', 'wchan'].map(async (file) => files.read(`/proc/${pid}/${file}`).catch(() => undefined)),
  )
  const [, state] = /^State:\s*(.+)$/m.exec(status?.toString('utf8') ?? '') ?? []
  if (state === undefined) return undefined
  const channel = wchan?.toString('utf8').trim() ?? ''
  return { state, waitChannel: channel === '0' ? '' : channel }
}

/** True if the process is stopped. A stopped process does not handle SIGTERM, so it must be killed. */
function isStopped({ state }: ProcessState): boolean {
  return /^[Tt]\b/.test(state)
}

/**
 * True if a process certainly existed before a moment, in nanoseconds since 1970. The result may also be
 * false for an older process. The kernel sets the time of /proc/PID only when that directory is first read.
 */
export async function existedBefore(
  { files }: Pick<LinuxHost, 'files'>,
  pid: number,
  moment: bigint,
): Promise<boolean> {
  const facts = pid === 0 ? undefined : await files.stat(`/proc/${pid}`)
  return facts !== undefined && BigInt(facts.modified) < moment
}
